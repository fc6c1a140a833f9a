// The path of every request that starts a run: once per Idempotency-Key, stored before it is answered, and answered
// with the run or, if requested, with its events.

import { hash } from 'node:crypto'
import { SynapseError, badInput } from '../core/error.ts'
import type { JsonObject } from '../core/json.ts'
import type { Conversation } from '../core/log.ts'
import type { NewRecord } from '../store/records.ts'
import type { NewEntry, Store } from '../store/store.ts'
import { json, Refusal } from './answer.ts'
import type { Call } from './route.ts'
import { checkRun, mergeSettings } from './run-settings.ts'
import { openStream } from './run-stream.ts'
import type { Settings } from './schema.ts'
import type { RunView } from './views.ts'

export interface RunStart {
  /** The entry that the run starts from; null: the conversation is empty. */
  basedOn: string | null
  /** The user message. */
  entry?: NewEntry & { id: string }
  /** The new title of the conversation. */
  title?: string
  /** Moves the head, once the run is accepted. */
  move?: () => Promise<void>
}

export async function startRun(
  call: Call<unknown, unknown>,
  given: Settings | undefined,
  begin: (conversation: Conversation) => Promise<RunStart>,
): Promise<Response> {
  const { server, owner, request, text } = call
  const once = onceFor(server.store, owner, request, text)
  const before = await once?.before()
  if (before) return answer(call, before, true)
  try {
    return await answer(call, await start(call, given, begin, once), false)
  } catch (error) {
    // The same request may have been faster on another connection.
    const existing = error instanceof SynapseError && error.kind === 'conflict' ? await once?.before() : undefined
    if (existing) return answer(call, existing, true)
    throw error
  }
}

async function start(
  { server, owner, principal, conversation: find }: Call<unknown, unknown>,
  given: Settings | undefined,
  begin: (conversation: Conversation) => Promise<RunStart>,
  once: Once | undefined,
): Promise<JsonObject> {
  const conversation = await find()
  const { id } = conversation
  const settings = mergeSettings(server, owner, conversation.settings, given)
  await checkRun(server, principal, settings)
  const { basedOn, entry, move, title } = await begin(conversation)
  const { keyId, budget } = principal
  const run = await server.runs.start({
    owner,
    conversationId: id,
    settings,
    ...(keyId !== undefined && { keyId }),
    ...(budget !== undefined && { budget }),
    entries: entry ? [entry] : [],
    basedOn: entry?.id ?? basedOn ?? '',
    ...(entry && { entryId: entry.id }),
    ...(title !== undefined && { title }),
    ...(move && { move }),
    records: (view) => (once ? [once.record(id, answerOf(view))] : []),
  })
  return answerOf(run)
}

function answerOf(run: RunView): JsonObject {
  return { run: JSON.parse(JSON.stringify(run)) as JsonObject }
}

async function answer(call: Call<unknown, unknown>, body: JsonObject, replayed: boolean): Promise<Response> {
  const { id } = body['run'] as JsonObject & RunView
  const headers = { location: `/api/runs/${id}`, ...(replayed && { 'idempotency-replayed': 'true' }) }
  const wantsStream = (call.request.headers.get('accept') ?? '').includes('text/event-stream')
  return wantsStream ? openStream(call.server, call.owner, id, 0, headers) : json(body, 202, headers)
}

const kind = 'idempotency'
const keepMs = 24 * 3_600_000

/**
 * The same request sent twice does its work once. The first answer is stored in the transaction that did the work, so
 * there is never one without the other, and nothing to lock.
 */
interface Once {
  /** The answer to the first request with this key; throws if that was a different request. */
  before(): Promise<JsonObject | undefined>
  /** To be written with the work. */
  record(conversationId: string, answer: JsonObject): NewRecord
}

function onceFor(store: Store, owner: string, request: Request, text: string): Once | undefined {
  const key = request.headers.get('idempotency-key')
  if (key === null) return undefined
  if (key.length < 1 || key.length > 255) throw badInput('An Idempotency-Key must have 1 to 255 characters.')
  const id = hash('sha256', key)
  const fingerprint = hash('sha256', `${request.method} ${new URL(request.url).pathname}\n${text}`)
  return {
    async before() {
      const record = await store.record(owner, kind, id)
      if (!record) return undefined
      if (record.data['fingerprint'] !== fingerprint) {
        throw new Refusal(422, {
          kind: 'conflict',
          code: 'idempotency-mismatch',
          message: 'This Idempotency-Key was used for another request. Use a new one.',
        })
      }
      return record.data['answer'] as JsonObject
    },
    record(conversationId, answer) {
      const expiresAt = new Date(Date.now() + keepMs).toISOString()
      return { owner, kind, id, conversationId, data: { fingerprint, answer }, expiresAt, version: 0 }
    },
  }
}
