// Parses the body of a client's request into what a run needs: the conversation, the tools that the client runs, and
// the options.

import { hash } from 'node:crypto'
import type { Note } from '../../core/context.ts'
import { asFailure, badInput, SynapseError } from '../../core/error.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { ServerTool } from '../../settings/options.ts'
import { loadService, loadTranscript, loadWire } from '../../wires/list.ts'
import { readRequestWith, type ReadRequest } from '../../wires/read-request.ts'
import { clientFormOf, type ProviderReference, type RequestForm, type WireService } from '../../wires/service.ts'
import { valueAt } from '../../wires/shared/json-fields.ts'
import type { Door } from './door.ts'
import { readContinuing } from './known-messages.ts'

export interface DoorRequest extends ReadRequest {
  /** Tools that the provider of the API runs itself, as far as others have them. */
  serverTools: readonly ServerTool[]
  /** The reply is retrieved later. */
  isBackground?: boolean
  /** The reply that it continues, by the client's id. */
  previousId?: string
  conversation?: string
  /** It is not part of what the user says: a title, a summary. */
  isAside?: boolean
  /** The session that the client names. It never decides alone: agents of one session share it. */
  session?: string
  /** Why it can be sent unchanged only: it refers to something that its provider alone has. */
  unchangedOnly?: string
}

/** `size`: characters of the body. `isCached`: what was read may stay in memory for the next request. */
export async function readRequest(
  { wire, provider, operation }: Pick<Door, 'wire' | 'provider' | 'operation'>,
  { body: given, size, isCached }: { body: JsonObject; size: number; isCached: boolean },
  headers: Headers,
): Promise<DoorRequest> {
  const [transcript, service] = await Promise.all([loadTranscript(wire), loadService(wire)])
  const { stored, unsupported, unportable = [], session: sessionIn, reference: referenceIn } = service.door ?? {}
  const refused = unsupported?.(given)
  if (refused) throw new SynapseError(refused)
  const form = operation.do === 'reply' ? clientFormOf(service, operation.form, given) : undefined
  const usual = inUsualForm(form, given)
  const reference = referenceIn?.(usual)
  const body = withList(usual, service, reference)
  const session = sessionOf(headers, sessionIn?.(body))
  const previousId = stored?.previousId(body)
  const conversation = stored?.conversationId?.(body)
  const readAll = (whole: JsonObject) => readRequestWith({ transcript, service }, whole, provider)
  const key = `${wire} ${provider} ${typeof body.model === 'string' ? body.model : ''}`
  const read = await inWordsOfApi({ wire, provider }, body, () =>
    isCached ? readContinuing(key, { body, size }, readAll) : readAll(body),
  )
  const serverTools = serverToolsIn(service, body)
  const continues = previousId !== undefined || conversation !== undefined
  const question = continues ? {} : missingQuestion(body, read, service, reference)
  return {
    ...read,
    ...question,
    serverTools: [...serverTools.values()],
    // What another provider may have is not left out yet.
    notes: [
      ...read.notes.filter(({ at: place }) => !serverTools.has(toolPlace(place))),
      ...unportableNotes(body, unportable),
      ...(question.notes ?? []),
    ],
    ...(stored?.retrieval && given.background === true && { isBackground: true }),
    ...(previousId !== undefined && { previousId }),
    ...(conversation !== undefined && { conversation }),
    ...(session !== undefined && { session }),
    ...(reference && { unchangedOnly: unchangedOnly(reference, provider) }),
  }
}

function unchangedOnly({ what, instead }: ProviderReference, provider: string): string {
  return `${what} that only ${provider} has, and the request cannot be sent there unchanged: ${instead}.`
}

/** A request that refers to its question, an earlier reply or a conversation needs no list. */
function withList(
  body: JsonObject,
  { listField, door }: WireService,
  reference: ProviderReference | undefined,
): JsonObject {
  if (body[listField] !== undefined) return body
  const names = reference?.question ?? door?.stored?.previousId(body) ?? door?.stored?.conversationId?.(body)
  return names !== undefined ? { ...body, [listField]: [] } : body
}

function inUsualForm(form: RequestForm | undefined, body: JsonObject): JsonObject {
  if (!form) return body
  const [issue] = form.refuse(body)
  if (issue) throw badInput(issue.message)
  return form.request(body)
}

/** The log has a question for each answer, and most APIs require one. */
function missingQuestion(
  body: JsonObject,
  { messages, system }: ReadRequest,
  { listField }: WireService,
  reference: ProviderReference | undefined,
): Partial<ReadRequest> {
  if (messages.length > 0) return {}
  const question = (text: string) => ({
    messages: [{ role: 'user' as const, parts: [{ type: 'text' as const, text }] }],
  })
  // Only the provider that has it gets this request, unchanged.
  if (reference?.question !== undefined) return question(reference.question)
  const list = body[listField]
  if (system === '' || !Array.isArray(list) || list.length === 0) return {}
  const why = 'the request has no other message, and most APIs require one of the user'
  return { ...question(system), system: '', notes: [{ kind: 'changed', what: 'instructions to a question', why }] }
}

/** The client gets the sentence of its own API about a conversation that cannot be read, if the API has one. */
async function inWordsOfApi<T>(
  { wire, provider }: Pick<Door, 'wire' | 'provider'>,
  body: JsonObject,
  read: () => T,
): Promise<T> {
  try {
    return read()
  } catch (error) {
    if (asFailure(error).kind !== 'bad-input') throw error
    const [{ refuse }, { listField }] = await Promise.all([loadWire(wire), loadService(wire)])
    const isAboutList = new RegExp(`\\b${listField}\\b`)
    const issues = refuse(body, { provider, model: typeof body.model === 'string' ? body.model : '' })
    const issue = issues.find(({ message, param }) => isAboutList.test(param ?? message)) ?? issues[0]
    if (!issue) throw error
    const { message, param, code } = issue
    throw new SynapseError({
      kind: 'bad-input',
      message: param == null || message.includes(param) ? message : `${param}: ${message}`,
      ...(param != null && { param }),
      ...(code != null && { code }),
    })
  }
}

function unportableNotes(body: JsonObject, places: readonly string[]): Note[] {
  return places.flatMap((place) => {
    const path = place.split('.')
    if ((valueAt(body, ...path) ?? null) === null) return []
    const why = 'it has no counterpart that every provider supports'
    return [{ kind: 'dropped', what: path.at(-1) ?? place, why, at: `$.${place}` }]
  })
}

/** By their places in the list of tools. */
function serverToolsIn({ readServerTool }: WireService, { tools }: JsonObject): Map<number, ServerTool> {
  const list = Array.isArray(tools) ? tools.entries() : []
  return new Map(
    [...list].flatMap(([i, tool]) => {
      const known = isObject(tool) ? readServerTool?.(tool) : undefined
      return known ? [[i, known] as const] : []
    }),
  )
}

/** Where a note is about a tool: its place in the list. */
function toolPlace(place: string | undefined): number {
  return Number(/^\$\.tools\[(\d+)\]/.exec(place ?? '')?.[1] ?? -1)
}

/** Headers in which clients name their session. */
const sessionHeaders = [
  'x-synapse-conversation',
  'x-claude-code-session-id',
  'session-id',
  'session_id',
  'x-session-id',
]

/** `inBody`: the one that its body names. */
function sessionOf(headers: Headers, inBody: Json | undefined): string | undefined {
  const given = sessionHeaders.map((name) => headers.get(name)).find(Boolean) ?? inBody
  if (typeof given !== 'string' || given === '') return undefined
  // It is stored with every message.
  return given.length > longestSession ? hash('sha256', given, 'base64url') : given
}

const longestSession = 200
