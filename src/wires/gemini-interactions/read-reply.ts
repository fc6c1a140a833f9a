// The steps of one interaction, as they arrive: each is started, filled by deltas and stopped. Our reading of them
// becomes parts; the assembled steps are the native data to send back.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { MediaPart, OpaquePart, ServerToolPart, TextPart } from '../../core/message.ts'
import { addPart, type Decoding, endPart, growPart, newCallPart, startPart, readArguments } from '../shared/decoding.ts'
import { type Content, contentKind, hasSignature, mediaKind, protocolId, serverToolOf, type Step } from './types.ts'
import { textIn, valuesIn } from '../shared/json-fields.ts'

/** The steps so far. */
export interface Steps extends Decoding {
  /** The finished steps in order; an open one has its index reserved. */
  readonly native: (Json | undefined)[]
  readonly open: Map<number, OpenStep>
  /** A step that arrives again, as after a broken connection, is the same step. */
  readonly seen: Set<number>
  /** Server tools without results so far, by their ids. */
  readonly serverTools: Map<string, { index: number; part: ServerToolPart }>
  calls: number
}

/** One kind of step: how it consumes deltas, and its result. */
interface OpenStep {
  slot: number
  delta(delta: JsonObject): void
  /** `from` is the step's index in `native`, or undefined if it was cut off and is not there. */
  end(from: number | undefined): Step
  /** Whether the part so far can be sent back. */
  usable(): boolean
}

export function noSteps(state: Decoding): Steps {
  return { ...state, native: [], open: new Map(), seen: new Set(), serverTools: new Map(), calls: 0 }
}

export function startStep(state: Steps, index: number, step: Step): void {
  if (state.seen.has(index)) return
  state.seen.add(index)
  state.open.set(index, openStep(state, step))
}

export function stopStep({ open, native }: Steps, index: number): void {
  const step = open.get(index)
  if (step) native[step.slot] = step.end(step.slot)
  open.delete(index)
}

/** Ends open steps; of an interrupted answer only what can be sent back stays in `native`. */
export function closeSteps(state: Steps, complete: boolean): void {
  const { native, open, serverTools } = state
  const unfinished = [...open.values()]
  open.clear()
  // Only at the end of the list can a step be left out without moving the others.
  const usable = unfinished.findLastIndex((step) => complete || step.usable())
  for (const [index, step] of unfinished.entries()) {
    if (index <= usable) native[step.slot] = step.end(step.slot)
    else step.end(undefined)
  }
  for (const { index, part } of serverTools.values()) endPart(state, index, part)
  serverTools.clear()
}

export function nativeSteps({ native }: Steps): Json[] {
  return native.filter((step) => step !== undefined)
}

function openStep(state: Steps, step: Step): OpenStep {
  const slot = state.native.push(undefined) - 1
  if (step.type === 'model_output') return outputStep(state, step, slot)
  if (step.type === 'thought') return thoughtStep(state, step, slot)
  if (step.type === 'function_call') return callStep(state, step, slot)
  const tool = serverToolOf(step)
  return tool ? serverToolStep(state, step, slot, tool) : otherStep(state, step, slot)
}

function outputStep(state: Steps, step: Step, slot: number): OpenStep {
  const reader = outputReader(state)
  for (const item of valuesIn(step.content)) if (isObject(item)) reader.item(item)
  return {
    slot,
    delta: (delta) => reader.delta(delta),
    end: (from) => ({ ...step, content: reader.end(from) }),
    usable: () => reader.count > 0,
  }
}

function thoughtStep(state: Steps, step: Step, slot: number): OpenStep {
  const summary = valuesIn(step.summary)
  const merged: Step = { ...step }
  const summaryText = () =>
    summary.map((item) => (isObject(item) && typeof item.text === 'string' ? item.text : '')).join('')
  const index = startPart(state, { type: 'reasoning', text: summaryText() })
  return {
    slot,
    delta({ type, ...delta }) {
      if (type === 'thought_summary' && isObject(delta.content)) {
        summary.push(delta.content)
        if (typeof delta.content.text === 'string') growPart(state, index, delta.content.text)
      } else {
        Object.assign(merged, delta)
      }
    },
    end(from) {
      const text = summaryText()
      endPart(state, index, { type: 'reasoning', text, ...(text === '' && { hidden: true }), ...fromField(from) })
      return { ...merged, ...(summary.length > 0 && { summary }) }
    },
    // Thinking without its signature is useless: the model cannot continue it.
    usable: () => hasSignature(merged),
  }
}

function callStep(state: Steps, step: Step, slot: number): OpenStep {
  const call = newCallPart(state, step.id, step.name)
  const index = startPart(state, call)
  const pieces: string[] = []
  const merged: Step = { ...step }
  state.calls++
  return {
    slot,
    delta({ type, ...delta }) {
      if (type === 'arguments_delta' && typeof delta.arguments === 'string') {
        pieces.push(delta.arguments)
        growPart(state, index, delta.arguments)
      } else {
        Object.assign(merged, delta)
      }
    },
    end(from) {
      const text = pieces.join('')
      const { input, malformed } = text === '' ? readInput(merged.arguments) : readArguments(text)
      // Truncated arguments may be a valid JSON object, but not the intended one.
      const broken = malformed ?? (from === undefined ? text : undefined)
      const readCall = broken === undefined ? { input } : { input: {}, malformed: broken }
      endPart(state, index, { ...call, ...readCall, ...fromField(from) })
      return { ...merged, arguments: malformed ?? input }
    },
    usable: () => false,
  }
}

interface ServerTool {
  name: string
  side: 'call' | 'result'
}

function serverToolStep(state: Steps, step: Step, slot: number, { name, side }: ServerTool): OpenStep {
  const merged: Step = { ...step }
  const index = side === 'call' ? startPart(state, { type: 'server-tool', name }) : -1
  return {
    slot,
    delta: (delta) => grow(merged, delta),
    end(from) {
      if (side === 'call') askServerTool(state, index, name, merged, from)
      else answerServerTool(state, name, merged, from)
      return merged
    },
    usable: () => false,
  }
}

function askServerTool(state: Steps, index: number, name: string, step: Step, from: number | undefined): void {
  const input = step.arguments
  const part: ServerToolPart = { type: 'server-tool', name, ...(input !== undefined && { input }), ...fromField(from) }
  const key = textIn(step.id)
  if (state.serverTools.has(key)) endPart(state, index, part)
  else state.serverTools.set(key, { index, part })
}

function answerServerTool(state: Steps, name: string, step: Step, from: number | undefined): void {
  const output = step.result !== undefined && { output: step.result }
  const key = textIn(step.call_id)
  const pending = state.serverTools.get(key)
  state.serverTools.delete(key)
  if (pending) endPart(state, pending.index, { ...pending.part, ...output })
  else addPart(state, { type: 'server-tool', name, ...output, ...fromField(from) })
}

function otherStep(state: Steps, step: Step, slot: number): OpenStep {
  const merged: Step = { ...step }
  const type = typeof step.type === 'string' ? step.type : 'step'
  return {
    slot,
    delta: (delta) => grow(merged, delta),
    end(from) {
      addPart(state, { type: 'opaque', kind: `${protocolId}/${type}`, data: merged, ...fromField(from) })
      return merged
    },
    usable: () => false,
  }
}

function fromField(from: number | undefined): { from?: number } {
  return from === undefined ? {} : { from }
}

function readInput(value: Json | undefined): { input: JsonObject; malformed?: string } {
  if (isObject(value)) return { input: value }
  return value === undefined || value === null ? { input: {} } : { input: {}, malformed: JSON.stringify(value) }
}

/** Lists are appended, everything else is replaced by the latest value. */
function grow(step: Step, delta: JsonObject): void {
  for (const [key, value] of Object.entries(delta)) {
    if (key === 'type') continue
    const old = step[key]
    step[key] = Array.isArray(old) && Array.isArray(value) ? [...old, ...value] : value
  }
}

// The content of one `model_output` step: texts that grow by deltas, their citations, and media.

interface OutputReader {
  /** A complete piece of content. */
  item(content: Content): void
  delta(delta: JsonObject): void
  end(from: number | undefined): Content[]
  readonly count: number
}

interface OpenText {
  index: number
  frame: Content
  pieces: string[]
  annotations: Json[]
}

function outputReader(state: Decoding): OutputReader {
  const content: Content[] = []
  /** Parts wait for the end of their step, which determines their index in `native`. */
  const parts: { index: number; part: TextPart | MediaPart | OpaquePart }[] = []
  let text: OpenText | undefined

  return {
    item(item) {
      if (item.type !== 'text' || typeof item.text !== 'string') {
        endText()
        addOther(item)
        return
      }
      endText()
      const { annotations, ...frame } = item
      startText(frame, valuesIn(annotations))
      if (item.text !== '') growText(item.text)
    },
    delta(delta) {
      if (delta.type === 'text' && typeof delta.text === 'string') {
        if (!text) startText({ type: 'text' }, [])
        growText(delta.text)
      } else if (typeof delta.type === 'string' && delta.type.startsWith('text_annotation')) {
        if (!text) startText({ type: 'text' }, [])
        text?.annotations.push(...valuesIn(delta.annotations))
      } else {
        endText()
        addOther(delta)
      }
    },
    end(from) {
      endText()
      for (const { index, part } of parts) {
        endPart(state, index, from === undefined ? part : { ...part, from })
      }
      return content
    },
    get count() {
      return content.length + (text ? 1 : 0)
    },
  }

  function startText(frame: Content, annotations: Json[]): void {
    const index = startPart(state, { type: 'text', text: '' })
    text = { index, frame, pieces: [], annotations: [...annotations] }
  }

  function growText(words: string): void {
    if (!text) return
    text.pieces.push(words)
    growPart(state, text.index, words)
  }

  function endText(): void {
    if (!text) return
    const { index, frame, pieces, annotations } = text
    text = undefined
    const fullText = pieces.join('')
    const cited = annotations.length > 0
    content.push({ ...frame, text: fullText, ...(cited && { annotations }) })
    parts.push({ index, part: { type: 'text', text: fullText, ...(cited && { citations: annotations }) } })
  }

  function addOther(item: Content): void {
    const part = readMedia(item)
    content.push(item)
    parts.push({ index: startPart(state, part), part })
  }
}

function readMedia(item: Content): MediaPart | OpaquePart {
  const { data, uri } = item
  const type = typeof item.type === 'string' ? item.type : 'untyped'
  const mediaType = typeof item.mime_type === 'string' ? item.mime_type : `${type}/*`
  if (mediaKind(mediaType) === type || type === 'document') {
    if (typeof data === 'string') return { type: 'media', mediaType, data: { kind: 'base64', base64: data } }
    if (typeof uri === 'string') return { type: 'media', mediaType, data: { kind: 'url', url: uri } }
  }
  return { type: 'opaque', kind: `${contentKind}${type}`, data: item }
}
