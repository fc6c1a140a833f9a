// The parts of one candidate, as they arrive: our reading of them, and the native data to send back.
//
// Only a text at the start of a chunk continues the previous text: parts inside one chunk are separate. A part with a
// signature is never merged with another in `native`, but our reading continues across it, because signatures occur in
// the middle of a sentence.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { Part, ReasoningPart, ServerToolPart, TextPart, ToolCallPart } from '../../core/message.ts'
import { addPart, type Decoding, endPart, growPart, newCallPart, startPart } from '../shared/decoding.ts'
import { dataKeys, protocolId } from './types.ts'
import { objectIn, listIn } from '../shared/json-fields.ts'

/** The content of the candidate so far. */
export interface Content extends Decoding {
  readonly native: Json[]
  /** Calls that have arrived, to recognise a repeated one. */
  readonly seen: Set<string>
  /** Server tools without results so far. */
  readonly serverTools: Map<string, { index: number; part: ServerToolPart }>
  calls: number
  text: OpenText | undefined
  call: OpenCall | undefined
  /** The unsigned text at the end of `native` that may still grow. */
  run: { at: number; thought: boolean; pieces: string[] } | undefined
}

interface OpenText {
  index: number
  type: 'text' | 'reasoning'
  from: number
  pieces: string[]
}

interface OpenCall {
  index: number
  part: ToolCallPart
  frame: JsonObject
  pieces: PartialCall
}

/** The other fields of a text. */
const husk: ReadonlySet<string> = new Set(['text', 'thought', 'thoughtSignature'])

export function emptyContent(state: Decoding): Content {
  return {
    ...state,
    native: [],
    seen: new Set(),
    serverTools: new Map(),
    calls: 0,
    text: undefined,
    call: undefined,
    run: undefined,
  }
}

/** `head`: it is the first in its chunk. Returns whether it had any content. */
export function readPart(state: Content, part: Json, head: boolean): boolean {
  if (!isObject(part)) return false
  if (typeof part.text === 'string') return readText(state, part, part.text, head)
  // An empty text is left out; its part must be sent back with it, or not at all (G-9).
  if (Object.keys(part).every((key) => husk.has(key))) return readText(state, { ...part, text: '' }, '', head)
  if (isObject(part.functionCall)) {
    readCall(state, part, part.functionCall)
    return true
  }
  endText(state, [])
  endCall(state)
  const from = pushNative(state, part)
  const { executableCode, codeExecutionResult, toolCall, toolResponse } = part
  if (isObject(executableCode)) startServerTool(state, 'code_execution', executableCode, from)
  else if (isObject(codeExecutionResult)) endServerTool(state, 'code_execution', codeExecutionResult, from)
  else if (isObject(toolCall)) startServerTool(state, nameOf(toolCall), toolCall, from)
  else if (isObject(toolResponse)) endServerTool(state, nameOf(toolResponse), toolResponse, from)
  else addPart(state, readOther(part, from))
  return true
}

function readText(state: Content, part: JsonObject, text: string, head: boolean): boolean {
  const type = part.thought === true ? 'reasoning' : 'text'
  const isPlain = Object.keys(part).every((key) => key === 'text' || key === 'thought')
  if (text === '' && isPlain) return false
  const continues = head && state.call === undefined && state.text?.type === type
  if (!continues && text !== '') endText(state, [])
  endCall(state)
  const from = isPlain ? keepBareText(state, type, text, continues) : pushNative(state, part)
  if (text === '') return true
  state.text ??= { index: startPart(state, { type, text: '' }), type, from, pieces: [] }
  state.text.pieces.push(text)
  growPart(state, state.text.index, text)
  return true
}

/** Text without a signature is one part of `native`, however many chunks carry it. */
function keepBareText(state: Content, type: OpenText['type'], text: string, continues: boolean): number {
  const { run, native } = state
  if (run && continues && run.at === native.length - 1) {
    run.pieces.push(text)
    return run.at
  }
  const position = pushNative(state, null)
  state.run = { at: position, thought: type === 'reasoning', pieces: [text] }
  return position
}

function readCall(state: Content, part: JsonObject, call: JsonObject): void {
  endText(state, [])
  const continues = state.call !== undefined && typeof call.name !== 'string'
  if (!continues) {
    endCall(state)
    if (call.willContinue !== true && call.partialArgs === undefined) {
      readWholeCall(state, part, call)
      return
    }
    state.call = startCall(state, part, call)
  }
  state.call?.pieces.add(call)
  if (call.willContinue !== true) endCall(state, true)
}

function readWholeCall(state: Content, part: JsonObject, { id, name, args }: JsonObject): void {
  // The same call with the same id is a repeated chunk.
  const key = JSON.stringify([id, name, args])
  if (typeof id === 'string' && id !== '' && state.seen.has(key)) return
  state.seen.add(key)
  const wrong = args !== undefined && args !== null && !isObject(args)
  state.calls++
  addPart(state, {
    ...newCallPart(state, id, name),
    input: objectIn(args),
    ...(wrong && { malformed: typeof args === 'string' ? args : JSON.stringify(args) }),
    from: pushNative(state, part),
  })
}

function startCall(state: Content, frame: JsonObject, { id, name }: JsonObject): OpenCall {
  const part = newCallPart(state, id, name)
  const { alias: _, ...shown } = part
  state.calls++
  return { index: startPart(state, shown), part, frame, pieces: partialCall() }
}

/** An incomplete call is kept, marked so that it is never run. */
function endCall(state: Content, isWhole = false): void {
  if (!state.call) return
  const { index, part, frame, pieces } = state.call
  state.call = undefined
  const input = pieces.args()
  const name = isObject(frame.functionCall) ? frame.functionCall.name : part.name
  const functionCall = { ...(part.alias !== undefined && { id: part.alias }), name, args: input }
  endPart(state, index, {
    ...part,
    ...(isWhole
      ? { input, from: pushNative(state, { ...frame, functionCall }) }
      : { input: {}, malformed: JSON.stringify(input) }),
  })
}

function startServerTool(state: Content, name: string, tool: JsonObject, from: number): void {
  const { id, toolType: _, args, ...rest } = tool
  const input = name === 'code_execution' ? rest : args
  const part: ServerToolPart = { type: 'server-tool', name, ...(input !== undefined && { input }), from }
  const key = keyOf(name, id)
  const unanswered = state.serverTools.get(key)
  if (unanswered) endPart(state, unanswered.index, unanswered.part)
  state.serverTools.set(key, { index: startPart(state, part), part })
}

function endServerTool(state: Content, name: string, tool: JsonObject, from: number): void {
  const { id, toolType: _, response, ...rest } = tool
  const output = name === 'code_execution' ? rest : (response ?? {})
  const key = keyOf(name, id)
  const open = state.serverTools.get(key)
  state.serverTools.delete(key)
  if (open) endPart(state, open.index, { ...open.part, output })
  else addPart(state, { type: 'server-tool', name, output, from })
}

/** Ends open parts; `citations` go to the open text. Returns whether it used them. */
export function closeContent(state: Content, citations: Json[]): boolean {
  endCall(state)
  const took = endText(state, citations)
  for (const { index, part } of state.serverTools.values()) endPart(state, index, part)
  state.serverTools.clear()
  return took
}

function endText(state: Content, citations: Json[]): boolean {
  if (!state.text) return false
  const { index, type, from, pieces } = state.text
  state.text = undefined
  const took = type === 'text' && citations.length > 0
  const part: TextPart | ReasoningPart = { type, text: pieces.join(''), ...(took && { citations }), from }
  endPart(state, index, part)
  return took
}

/** The native content to send back. */
export function nativeParts(state: Content): Json[] {
  endRun(state)
  return state.native
}

function endRun(state: Content): void {
  const { run, native } = state
  if (run) native[run.at] = { text: run.pieces.join(''), ...(run.thought && { thought: true }) }
  state.run = undefined
}

function pushNative(state: Content, part: Json): number {
  endRun(state)
  return state.native.push(part) - 1
}

function readOther(part: JsonObject, from: number): Part {
  const { inlineData, fileData } = part
  if (isObject(inlineData) && typeof inlineData.data === 'string' && part.thought !== true) {
    const name = inlineData.displayName
    return {
      type: 'media',
      mediaType: typeof inlineData.mimeType === 'string' ? inlineData.mimeType : 'application/octet-stream',
      ...(typeof name === 'string' && { name }),
      data: { kind: 'base64', base64: inlineData.data },
      from,
    }
  }
  if (isObject(fileData) && typeof fileData.fileUri === 'string') {
    const mediaType = typeof fileData.mimeType === 'string' ? fileData.mimeType : 'application/octet-stream'
    return { type: 'media', mediaType, data: { kind: 'url', url: fileData.fileUri }, from }
  }
  const key = dataKeys.find((name) => part[name] !== undefined) ?? Object.keys(part)[0] ?? 'empty'
  return { type: 'opaque', kind: `${protocolId}/${key}`, data: part, from }
}

function nameOf(tool: JsonObject): string {
  return typeof tool.toolType === 'string' ? tool.toolType : 'tool'
}

function keyOf(name: string, id: Json | undefined): string {
  return typeof id === 'string' ? `id ${id}` : `name ${name}`
}

// A call whose arguments come in pieces (Vertex, `streamFunctionCallArguments`): each piece has a JSON path for its
// position, and texts continue until one comes without `willContinue`. Elsewhere a call is complete in one chunk.

interface PartialCall {
  /** Adds a further `functionCall` of the stream. */
  add(call: JsonObject): void
  /** The arguments so far. */
  args(): JsonObject
}

function partialCall(): PartialCall {
  const base: JsonObject = {}
  const pieces = new Map<string, string[]>()
  const values = new Map<string, Json>()
  return {
    add(call) {
      if (isObject(call.args)) Object.assign(base, call.args)
      for (const piece of listIn(call.partialArgs)) {
        if (!isObject(piece) || typeof piece.jsonPath !== 'string') continue
        if (typeof piece.stringValue !== 'string') {
          values.set(piece.jsonPath, piece.numberValue ?? piece.boolValue ?? null)
          continue
        }
        const texts = pieces.get(piece.jsonPath)
        if (texts) texts.push(piece.stringValue)
        else pieces.set(piece.jsonPath, [piece.stringValue])
      }
    },
    args() {
      const args = structuredClone(base)
      for (const [path, texts] of pieces) setAt(args, stepsOf(path), texts.join(''))
      for (const [path, value] of values) setAt(args, stepsOf(path), value)
      return args
    },
  }
}

/** `$.a['b c'][0]` as `a`, `b c`, 0. */
function stepsOf(path: string): (string | number)[] {
  return [...path.matchAll(/\.([^.[\]]+)|\[(\d+)\]|\[(?:'([^']*)'|"([^"]*)")\]/g)].map(
    ([, name, index, single, double]) => (index === undefined ? (name ?? single ?? double ?? '') : Number(index)),
  )
}

function setAt(root: JsonObject, steps: readonly (string | number)[], value: Json): void {
  let container: Json = root
  for (const [depth, step] of steps.entries()) {
    const next = steps[depth + 1]
    if (next === undefined) {
      put(container, step, value)
      return
    }
    let inside: Json | undefined = get(container, step)
    if (!isObject(inside) && !Array.isArray(inside)) {
      inside = typeof next === 'number' ? [] : {}
      put(container, step, inside)
    }
    container = inside
  }
}

function get(container: Json, step: string | number): Json | undefined {
  if (Array.isArray(container)) return typeof step === 'number' ? container[step] : undefined
  return isObject(container) && Object.hasOwn(container, step) ? container[step] : undefined
}

/** A list grows by one at most, whatever the index; and `__proto__` is a name like any other. */
function put(container: Json, step: string | number, value: Json): void {
  if (Array.isArray(container)) {
    if (typeof step === 'number') container[Math.min(step, container.length)] = value
  } else if (isObject(container)) {
    Object.defineProperty(container, step, { value, enumerable: true, writable: true, configurable: true })
  }
}
