// The parts of one candidate, as they come: our reading of them, and the words to send back.
//
// Only a text at the head of a chunk continues from the text before it: parts inside one chunk are parts of their own. A
// part with a signature is never joined with another in `native`, but our reading continues over it, because signatures
// come in the middle of a sentence.

import type { ReplyEvent } from '../../core/event.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { Part, ReasoningPart, ServerToolPart, TextPart } from '../../core/message.ts'
import { callIds } from '../shared/call-ids.ts'
import type { DecoderOptions } from '../wire.ts'
import { partialCall, type PartialCall } from './partial-call.ts'
import { dataKeys, protocolId } from './types.ts'

export interface PartReader {
  /** `head`: nothing comes before it in its chunk. Says whether there was anything in it. */
  read(part: Json, head: boolean): boolean
  /** Ends what is open; `citations` go to the text that is. */
  close(citations: Json[]): boolean
  add(part: Part): void
  readonly native: Json[]
  readonly calls: number
  readonly count: number
}

interface OpenText {
  index: number
  type: 'text' | 'reasoning'
  from: number
  pieces: string[]
}

interface OpenCall {
  index: number
  name: string
  alias: string | undefined
  callId: string
  frame: JsonObject
  pieces: PartialCall
}

/** What a text has beside its words. */
const husk: ReadonlySet<string> = new Set(['text', 'thought', 'thoughtSignature'])

export function partReader(emit: (event: ReplyEvent) => void, options: DecoderOptions | undefined): PartReader {
  const ids = callIds(options)
  const native: Json[] = []
  const seen = new Set<string>()
  let count = 0
  let calls = 0
  let text: OpenText | undefined
  /** The unsigned text at the end of `native` that may still grow. */
  let run: { at: number; thought: boolean; pieces: string[] } | undefined
  let call: OpenCall | undefined
  const serverTools = new Map<string, { index: number; part: ServerToolPart }>()

  return {
    read,
    close,
    add,
    get native() {
      endRun()
      return native
    },
    get calls() {
      return calls
    },
    get count() {
      return count
    },
  }

  function read(part: Json, head: boolean): boolean {
    if (!isObject(part)) return false
    if (typeof part.text === 'string') return readText(part, part.text, head)
    // An empty text is left out on the way; its part must be sent back with it, or not at all (G-9).
    if (Object.keys(part).every((key) => husk.has(key))) return readText({ ...part, text: '' }, '', head)
    const functionCall = isObject(part.functionCall) ? part.functionCall : undefined
    if (functionCall) {
      readCall(part, functionCall)
      return true
    }
    endText([])
    endCall()
    const from = keep(part)
    if (isObject(part.executableCode)) startServerTool('code_execution', part.executableCode, from)
    else if (isObject(part.codeExecutionResult)) endServerTool('code_execution', part.codeExecutionResult, from)
    else if (isObject(part.toolCall)) startServerTool(nameOf(part.toolCall), part.toolCall, from)
    else if (isObject(part.toolResponse)) endServerTool(nameOf(part.toolResponse), part.toolResponse, from)
    else add(readOther(part, from))
    return true
  }

  function readText(part: JsonObject, words: string, head: boolean): boolean {
    const type = part.thought === true ? 'reasoning' : 'text'
    const bare = Object.keys(part).every((key) => key === 'text' || key === 'thought')
    if (words === '' && bare) return false
    const goesOn = head && call === undefined && text?.type === type
    if (!goesOn && words !== '') endText([])
    endCall()

    let from: number
    if (!bare) {
      from = keep(part)
    } else if (run && goesOn && run.at === native.length - 1) {
      run.pieces.push(words)
      from = run.at
    } else {
      from = keep(null)
      run = { at: from, thought: type === 'reasoning', pieces: [words] }
    }

    if (words === '') return true
    if (!text) {
      text = { index: count++, type, from, pieces: [] }
      emit({ type: 'part-start', index: text.index, part: { type, text: '' } })
    }
    text.pieces.push(words)
    emit({ type: 'part-delta', index: text.index, text: words })
    return true
  }

  function readCall(part: JsonObject, functionCall: JsonObject): void {
    endText([])
    const goesOn = call !== undefined && typeof functionCall.name !== 'string'
    if (!goesOn) {
      endCall()
      if (functionCall.willContinue !== true && functionCall.partialArgs === undefined) {
        readWholeCall(part, functionCall)
        return
      }
      call = startCall(part, functionCall)
    }
    call?.pieces.add(functionCall)
    if (functionCall.willContinue !== true) endCall(true)
  }

  function readWholeCall(part: JsonObject, { id, name, args }: JsonObject): void {
    const alias = typeof id === 'string' && id !== '' ? id : undefined
    // The very same call under the same id is the same chunk come twice.
    const said = JSON.stringify([id, name, args])
    if (alias !== undefined && seen.has(said)) return
    seen.add(said)
    const wrong = args !== undefined && args !== null && !isObject(args)
    calls++
    add({
      type: 'tool-call',
      callId: ids(alias),
      ...(alias !== undefined && { alias }),
      name: ourName(name),
      input: isObject(args) ? args : {},
      ...(wrong && { malformed: typeof args === 'string' ? args : JSON.stringify(args) }),
      from: keep(part),
    })
  }

  function startCall(part: JsonObject, { id, name }: JsonObject): OpenCall {
    const alias = typeof id === 'string' && id !== '' ? id : undefined
    const open = { index: count++, name: ourName(name), alias, callId: ids(alias), frame: part, pieces: partialCall() }
    calls++
    emit({
      type: 'part-start',
      index: open.index,
      part: { type: 'tool-call', callId: open.callId, name: open.name, input: {} },
    })
    return open
  }

  /** A call that was not brought to its end is kept as it is, marked so that no one runs it. */
  function endCall(whole = false): void {
    if (!call) return
    const { index, name, alias, callId, frame, pieces } = call
    call = undefined
    const input = pieces.args()
    const sent = isObject(frame.functionCall) ? frame.functionCall.name : name
    const said: JsonObject = { ...(alias !== undefined && { id: alias }), name: sent, args: input }
    const part: Part = {
      type: 'tool-call',
      callId,
      ...(alias !== undefined && { alias }),
      name,
      ...(whole
        ? { input, from: keep({ ...frame, functionCall: said }) }
        : { input: {}, malformed: JSON.stringify(input) }),
    }
    emit({ type: 'part-end', index, part })
  }

  function startServerTool(name: string, tool: JsonObject, from: number): void {
    const { id, toolType: _, args, ...rest } = tool
    const input = name === 'code_execution' ? rest : args
    const part: ServerToolPart = { type: 'server-tool', name, ...(input !== undefined && { input }), from }
    const key = keyOf(name, id)
    const unanswered = serverTools.get(key)
    if (unanswered) emit({ type: 'part-end', ...unanswered })
    const index = count++
    emit({ type: 'part-start', index, part })
    serverTools.set(key, { index, part })
  }

  function endServerTool(name: string, tool: JsonObject, from: number): void {
    const { id, toolType: _, response, ...rest } = tool
    const output = name === 'code_execution' ? rest : (response ?? {})
    const open = serverTools.get(keyOf(name, id))
    if (!open) {
      add({ type: 'server-tool', name, output, from })
      return
    }
    serverTools.delete(keyOf(name, id))
    emit({ type: 'part-end', index: open.index, part: { ...open.part, output } })
  }

  function close(citations: Json[]): boolean {
    endCall()
    const took = endText(citations)
    for (const { index, part } of serverTools.values()) emit({ type: 'part-end', index, part })
    serverTools.clear()
    return took
  }

  function endText(citations: Json[]): boolean {
    if (!text) return false
    const { index, type, from, pieces } = text
    text = undefined
    const took = type === 'text' && citations.length > 0
    const part: TextPart | ReasoningPart = { type, text: pieces.join(''), ...(took && { citations }), from }
    emit({ type: 'part-end', index, part })
    return took
  }

  function endRun(): void {
    if (run) native[run.at] = { text: run.pieces.join(''), ...(run.thought && { thought: true }) }
    run = undefined
  }

  function keep(part: Json): number {
    endRun()
    return native.push(part) - 1
  }

  function add(part: Part): void {
    const index = count++
    emit({ type: 'part-start', index, part })
    emit({ type: 'part-end', index, part })
  }

  function ourName(name: Json | undefined): string {
    const said = typeof name === 'string' ? name : ''
    const names = options?.toolNames
    return (names && Object.hasOwn(names, said) ? names[said] : undefined) ?? said
  }
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
