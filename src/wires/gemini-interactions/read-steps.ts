// The steps of one interaction, as they come: each is started, filled by deltas and stopped. Our reading of them goes
// out as parts; the steps themselves, put together, are the words to send back.

import type { ReplyEvent } from '../../core/event.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { Part, ServerToolPart } from '../../core/message.ts'
import { readArguments } from '../shared/arguments.ts'
import { callIds } from '../shared/call-ids.ts'
import type { DecoderOptions } from '../wire.ts'
import { outputReader, type OutputReader } from './read-output.ts'
import { hasSignature, listOf, protocolId, serverToolOf, type Step } from './types.ts'

export interface StepReader {
  start(index: number, step: Step): void
  delta(index: number, delta: JsonObject): void
  stop(index: number): void
  /** Ends what is open; of an answer that was cut off only what can be sent back is kept in `native`. */
  close(complete: boolean): void
  readonly native: Json[]
  readonly calls: number
}

/** One kind of step: how it takes what comes, and what it was when it is over. */
interface OpenStep {
  slot: number
  delta(delta: JsonObject): void
  /** `from` is the step's place in `native`, or nothing if it was cut off and is not there. */
  end(from: number | undefined): Step
  /** Whether what has come so far can be sent back. */
  usable(): boolean
}

export function stepReader(emit: (event: ReplyEvent) => void, options: DecoderOptions | undefined): StepReader {
  const ids = callIds(options)
  const native: (Json | undefined)[] = []
  const open = new Map<number, OpenStep>()
  /** A step that comes again, as after a broken connection, is the same step. */
  const seen = new Set<number>()
  const serverTools = new Map<string, { index: number; part: ServerToolPart }>()
  let count = 0
  let calls = 0

  return {
    start(index, step) {
      if (seen.has(index)) return
      seen.add(index)
      open.set(index, opened(step))
    },
    delta(index, delta) {
      open.get(index)?.delta(delta)
    },
    stop(index) {
      const step = open.get(index)
      if (step) native[step.slot] = step.end(step.slot)
      open.delete(index)
    },
    close(complete) {
      const left = [...open.values()]
      open.clear()
      // Only at the end of the list can a step be left out without moving the others.
      const usable = left.findLastIndex((step) => complete || step.usable())
      for (const [place, step] of left.entries()) {
        if (place <= usable) native[step.slot] = step.end(step.slot)
        else step.end(undefined)
      }
      for (const { index, part } of serverTools.values()) emit({ type: 'part-end', index, part })
      serverTools.clear()
    },
    get native() {
      return native.filter((step) => step !== undefined)
    },
    get calls() {
      return calls
    },
  }

  function opened(step: Step): OpenStep {
    const slot = native.push(undefined) - 1
    if (step.type === 'model_output') return outputStep(step, slot)
    if (step.type === 'thought') return thoughtStep(step, slot)
    if (step.type === 'function_call') return callStep(step, slot)
    const tool = serverToolOf(step)
    return tool ? serverToolStep(step, slot, tool) : otherStep(step, slot)
  }

  function outputStep(step: Step, slot: number): OpenStep {
    const reader: OutputReader = outputReader(emit, () => count++)
    for (const item of listOf(step.content)) if (isObject(item)) reader.item(item)
    return {
      slot,
      delta: (delta) => reader.delta(delta),
      end: (from) => ({ ...step, content: reader.end(from) }),
      usable: () => reader.count > 0,
    }
  }

  function thoughtStep(step: Step, slot: number): OpenStep {
    const index = count++
    const summary = listOf(step.summary)
    const whole: Step = { ...step }
    const words = () => summary.map((item) => (isObject(item) && typeof item.text === 'string' ? item.text : ''))
    emit({ type: 'part-start', index, part: { type: 'reasoning', text: words().join('') } })
    return {
      slot,
      delta({ type, ...delta }) {
        if (type === 'thought_summary' && isObject(delta.content)) {
          summary.push(delta.content)
          if (typeof delta.content.text === 'string') emit({ type: 'part-delta', index, text: delta.content.text })
        } else {
          Object.assign(whole, delta)
        }
      },
      end(from) {
        const text = words().join('')
        const part: Part = { type: 'reasoning', text, ...(text === '' && { hidden: true }), ...at(from) }
        emit({ type: 'part-end', index, part })
        return { ...whole, ...(summary.length > 0 && { summary }) }
      },
      // A thought is worth its signature: without it there is nothing that the model could take up again.
      usable: () => hasSignature(whole),
    }
  }

  function callStep(step: Step, slot: number): OpenStep {
    const index = count++
    const alias = typeof step.id === 'string' && step.id !== '' ? step.id : undefined
    const callId = ids(alias)
    const name = ourName(step.name)
    const pieces: string[] = []
    const whole: Step = { ...step }
    const call = { type: 'tool-call' as const, callId, ...(alias !== undefined && { alias }), name }
    calls++
    emit({ type: 'part-start', index, part: { ...call, input: {} } })
    return {
      slot,
      delta({ type, ...delta }) {
        if (type === 'arguments_delta' && typeof delta.arguments === 'string') {
          pieces.push(delta.arguments)
          emit({ type: 'part-delta', index, text: delta.arguments })
        } else {
          Object.assign(whole, delta)
        }
      },
      end(from) {
        const text = pieces.join('')
        const { input, malformed } = text === '' ? given(whole.arguments) : readArguments(text)
        // Half a list of arguments may well be a JSON object, but it is not the one that was meant.
        const broken = malformed ?? (from === undefined ? text : undefined)
        const part: Part = {
          ...call,
          input: broken === undefined ? input : {},
          ...(broken !== undefined && { malformed: broken }),
          ...at(from),
        }
        emit({ type: 'part-end', index, part })
        return { ...whole, arguments: malformed ?? input }
      },
      usable: () => false,
    }
  }

  function serverToolStep(step: Step, slot: number, tool: { name: string; side: 'call' | 'result' }): OpenStep {
    const whole: Step = { ...step }
    const index = tool.side === 'call' ? count++ : -1
    if (tool.side === 'call') emit({ type: 'part-start', index, part: { type: 'server-tool', name: tool.name } })
    return {
      slot,
      delta: (delta) => grow(whole, delta),
      end(from) {
        if (tool.side === 'call') askServerTool(index, tool.name, whole, from)
        else answerServerTool(tool.name, whole, from)
        return whole
      },
      usable: () => false,
    }
  }

  function askServerTool(index: number, name: string, step: Step, from: number | undefined): void {
    const input = step.arguments
    const part: ServerToolPart = { type: 'server-tool', name, ...(input !== undefined && { input }), ...at(from) }
    const key = idOf(step.id)
    if (serverTools.has(key)) emit({ type: 'part-end', index, part })
    else serverTools.set(key, { index, part })
  }

  function answerServerTool(name: string, step: Step, from: number | undefined): void {
    const output = step.result
    const key = idOf(step.call_id)
    const asked = serverTools.get(key)
    serverTools.delete(key)
    if (asked)
      emit({ type: 'part-end', index: asked.index, part: { ...asked.part, ...(output !== undefined && { output }) } })
    else add({ type: 'server-tool', name, ...(output !== undefined && { output }), ...at(from) })
  }

  function otherStep(step: Step, slot: number): OpenStep {
    const whole: Step = { ...step }
    const type = typeof step.type === 'string' ? step.type : 'step'
    return {
      slot,
      delta: (delta) => grow(whole, delta),
      end(from) {
        add({ type: 'opaque', kind: `${protocolId}/${type}`, data: whole, ...at(from) })
        return whole
      },
      usable: () => false,
    }
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

function at(from: number | undefined): { from?: number } {
  return from === undefined ? {} : { from }
}

function idOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : ''
}

function given(value: Json | undefined): { input: JsonObject; malformed?: string } {
  if (isObject(value)) return { input: value }
  return value === undefined || value === null ? { input: {} } : { input: {}, malformed: JSON.stringify(value) }
}

/** Lists continue where they were, everything else is replaced by what came last. */
function grow(whole: Step, delta: JsonObject): void {
  for (const [key, value] of Object.entries(delta)) {
    if (key === 'type') continue
    const old = whole[key]
    whole[key] = Array.isArray(old) && Array.isArray(value) ? [...old, ...value] : value
  }
}
