// Steps of the Interactions API: the input of a request, or the steps of an interaction. Consecutive model steps are
// one reply, so a reply has a list of steps as its source; everything else is one step, one message.

import type { Note, ToolSpec } from '../../core/context.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { MediaPart, Message, Origin, Reply, ToolMessage, ToolResultPart, UserMessage } from '../../core/message.ts'
import { encodeSteps, encodingFor } from './encode-messages.ts'
import { geminiInteractions } from './index.ts'
import { contentKind, isStep, textContent, userInput } from './types.ts'
import { fileAt, inRuns, writeItems } from '../google/transcript.ts'
import { decodeReply, withSource, type Transcript, type TranscriptFormat, unreadable } from '../shared/transcript.ts'
import { listIn, textIn, valuesIn } from '../shared/json-fields.ts'

const { id } = geminiInteractions
const provider = 'google'

export const geminiInteractionsFormat: TranscriptFormat = { id, recognise, read, write }

const plainSteps: ReadonlySet<Json | undefined> = new Set(['user_input', 'model_output', 'thought'])
const contentTypes: ReadonlySet<Json | undefined> = new Set(['text', 'image', 'audio', 'video', 'document'])

/** Other wires have function calls too, so a step that only this wire has must be among the first. */
function recognise(json: Json): boolean {
  if (Array.isArray(json)) return json.slice(0, 4).some((step) => isObject(step) && plainSteps.has(step.type))
  if (!isObject(json)) return false
  if (Array.isArray(json.steps)) return json.object === 'interaction' || recognise(json.steps)
  return Array.isArray(json.input) && recognise(json.input)
}

function read(json: Json): Transcript {
  const notes: Note[] = []
  if (Array.isArray(json)) return { messages: readSteps(json, '$', ''), notes }
  if (!isObject(json)) throw unreadable(id, '$', 'a list of steps, or an object with `input` or `steps`')
  const { input, steps, system_instruction: system } = json
  if (input === undefined && steps === undefined) throw unreadable(id, '$', 'an object with `input` or `steps`')
  const model = textIn(json.model)
  const inputSteps = stepsIn(input)
  const answered = valuesIn(steps)
  const tools = toolsIn(json, notes)
  return {
    // An interaction contains its input and the answer to it; a result among the steps belongs to a call of the input.
    messages: readSteps([...inputSteps, ...answered], inputSteps.length > 0 ? '$.input' : '$.steps', model),
    ...(typeof system === 'string' && system !== '' && { system: [{ type: 'text', text: system }] }),
    ...(tools.length > 0 && { tools }),
    notes,
  }
}

/** Input may also be a text, or content without steps. */
function stepsIn(input: Json | undefined): Json[] {
  if (typeof input === 'string') return [userInput([textContent(input)])]
  const items = valuesIn(input)
  const isContent = items.length > 0 && items.every((item) => isObject(item) && contentTypes.has(item.type))
  return isContent ? [userInput(items.filter(isObject))] : items
}

function readSteps(steps: readonly Json[], path: string, model: string): Message[] {
  const calls = new Map<string, { turn: number; open: string[]; last: string }>()
  let turn = 0
  const used = new Set<string>()
  let n = 0
  const nameCall = (alias: string | undefined): string => {
    let callId = alias ?? `call-${n++}`
    while (used.has(callId)) callId = `call-${n++}`
    used.add(callId)
    if (alias !== undefined) {
      const previous = calls.get(alias)
      calls.set(alias, { turn, open: previous?.turn === turn ? [...previous.open, callId] : [callId], last: callId })
    }
    return callId
  }
  const answer = (alias: Json | undefined): string => {
    const call = typeof alias === 'string' ? calls.get(alias) : undefined
    return call?.open.shift() ?? call?.last ?? nameCall(typeof alias === 'string' ? alias : undefined)
  }

  const messages: Message[] = []
  let replySteps: JsonObject[] = []
  const endReply = () => {
    turn++
    if (replySteps.length > 0) messages.push(...withSource(id, replySteps, [readReply(replySteps, model, nameCall)]))
    replySteps = []
  }
  for (const [index, step] of steps.entries()) {
    if (!isObject(step) || typeof step.type !== 'string') {
      throw unreadable(id, `${path}[${index}]`, 'a step: an object with a type')
    }
    if (step.type === 'user_input' || step.type === 'function_result') endReply()
    if (step.type === 'user_input') messages.push(...withSource(id, step, readInput(step, answer)))
    else if (step.type === 'function_result') {
      messages.push(...withSource(id, step, [{ role: 'tool' as const, parts: [readResult(step, answer)] }]))
    } else replySteps.push(step)
  }
  endReply()
  return messages
}

function readReply(steps: JsonObject[], model: string, nameCall: (alias: string | undefined) => string): Reply {
  const origin: Origin = { protocol: id, provider, model }
  const chunks = geminiInteractions.split({ status: 'completed', steps })
  const reply = decodeReply(geminiInteractions, chunks, origin, (_, alias) => nameCall(alias))
  return { ...reply, stop: { reason: reply.stop.reason } }
}

/** Results may be in the content of a user message; here they become separate messages. */
function readInput(step: JsonObject, answer: (alias: Json | undefined) => string): (UserMessage | ToolMessage)[] {
  return inRuns(
    valuesIn(step.content).map((item) =>
      isStep(item, 'function_result') ? readResult(item, answer) : readContent(item),
    ),
  )
}

function readContent(item: Json): UserMessage['parts'][number] {
  if (typeof item === 'string') return { type: 'text', text: item }
  if (isStep(item, 'text') && typeof item.text === 'string') return { type: 'text', text: item.text }
  const media = readMedia(item)
  if (media) return media
  const type = isObject(item) && typeof item.type === 'string' ? item.type : 'untyped'
  return { type: 'opaque', kind: `${contentKind}${type}`, data: item }
}

function readMedia(item: Json): MediaPart | undefined {
  if (!isObject(item) || !contentTypes.has(item.type)) return undefined
  const { data, uri } = item
  const mediaType = typeof item.mime_type === 'string' ? item.mime_type : 'application/octet-stream'
  if (typeof data === 'string') return { type: 'media', mediaType, data: { kind: 'base64', base64: data } }
  if (typeof uri !== 'string') return undefined
  return { type: 'media', mediaType, data: fileAt(uri) }
}

function readResult(step: JsonObject, answer: (alias: Json | undefined) => string): ToolResultPart {
  const { name, result, is_error: failed } = step
  const items = listIn(result)
  const rich = items.length > 0 && items.every((item) => isObject(item) && contentTypes.has(item.type))
  const output = rich
    ? items.map(readContent).filter((part) => part.type === 'text' || part.type === 'media')
    : [{ type: 'text' as const, text: typeof result === 'string' ? result : JSON.stringify(result ?? null) }]
  return {
    type: 'tool-result',
    callId: answer(step.call_id),
    name: textIn(name),
    output,
    ...(typeof result !== 'string' && !rich && result !== undefined && { value: result }),
    ...(failed === true && { failed }),
  }
}

function toolsIn(json: JsonObject, notes: Note[]): ToolSpec[] {
  return valuesIn(json.tools).flatMap((tool, index): ToolSpec[] => {
    if (!isObject(tool)) return []
    if (tool.type !== 'function' || typeof tool.name !== 'string') {
      const what = `tool ${typeof tool.type === 'string' ? tool.type : 'without a type'}`
      notes.push({ kind: 'dropped', what, why: 'the provider runs it itself', at: `$.tools[${index}]` })
      return []
    }
    return [
      {
        name: tool.name,
        ...(typeof tool.description === 'string' && { description: tool.description }),
        input: isObject(tool.parameters) ? tool.parameters : { type: 'object', properties: {} },
      },
    ]
  })
}

function write(messages: Message[]): Json {
  return writeItems(messages, geminiInteractions, encodingFor, (context, pen) =>
    encodeSteps(context, pen, 'bare'),
  ).flat()
}
