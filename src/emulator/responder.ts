// The emulator's replacement for a model: a few rules that answer from the messages of this one request. It stores
// nothing between requests, so its answers show exactly what was sent, and it says what it is: it must not be mistaken
// for a model.

import { isObject, type Json, type JsonObject } from '../core/json.ts'
import type { Context } from '../core/context.ts'
import {
  callsOf,
  textOf,
  type Message,
  type Part,
  type ToolCallPart,
  type ToolResultPart,
  type UserMessage,
} from '../core/message.ts'
import { afterTaggedBlocks } from '../core/tagged-blocks.ts'
import { callMarks } from '../core/tool-kinds.ts'
import { sampleOf, type WantedCall, wantedCalls, wantedSums, wantsTime } from './wanted-calls.ts'
import type { RequestOptions } from '../wires/shared/request-options.ts'
import { objectIn } from '../wires/shared/json-fields.ts'

/** Everything that an answer may be derived from. */
export interface ResponderInput extends Pick<Context, 'system' | 'messages' | 'tools'> {
  protocol: string
  provider: string
  model: string
  requested: RequestOptions
  /** The request as the model would see it: with the server's state, and without what it removed. */
  body: JsonObject
}

export const emulatorLabel = '[offline emulator]'

/** Parts of the answer, in order. Calls have no ids yet: those belong to the wire. */
export function respond(situation: ResponderInput): Part[] {
  const { requested } = situation
  const turn = currentTurn(situation.messages)
  const open = openCalls(wantedCalls(turn.question, callableTools(situation)), turn.calls)
  const calls = open.length > 0 ? open : forcedCalls(situation, turn)
  const parts: Part[] =
    calls.length > 0
      ? calls.slice(0, requested.parallelTools ? calls.length : 1).map(callPart)
      : [{ type: 'text', text: inWords(situation, turn) }]
  if (requested.reasoning === 'on' || (requested.reasoning === 'free' && /\bthink\b/i.test(turn.question))) {
    parts.unshift({ type: 'reasoning', text: thoughtOf(situation, turn, calls) })
  }
  return parts
}

/** A tool choice that names a tool allows no other. */
function callableTools({ requested: { toolChoice }, tools }: ResponderInput): ResponderInput['tools'] {
  if (toolChoice === 'none') return []
  return typeof toolChoice === 'string' ? tools : tools.filter(({ name }) => name === toolChoice.tool)
}

interface Turn {
  /** The last user message. */
  question: string
  /** The calls for it so far, and their results. */
  calls: ToolCallPart[]
  results: ToolResultPart[]
  /** All earlier user messages. */
  earlier: string[]
}

function currentTurn(messages: readonly Message[]): Turn {
  const userTexts = messages.map((message, i) =>
    message.role === 'user' ? userTextsIn(message, messages[i - 1]?.role === 'user') : [],
  )
  const last = userTexts.findLastIndex((texts) => texts.length > 0)
  const after = messages.slice(last + 1)
  return {
    question: userTexts[last]?.join('\n') ?? '',
    calls: after.flatMap(callsOf),
    results: after.flatMap((message) => (message.role === 'tool' ? message.parts : [])),
    // Wires that merge adjacent messages leave texts of different times in one.
    earlier: userTexts.flat().slice(0, -1),
  }
}

/**
 * What coding agents add in tags is no question, unless there is nothing else. `isMore`: the user has said something
 * before it.
 */
function userTextsIn({ parts }: UserMessage, isMore: boolean): string[] {
  const texts = parts.flatMap((part) => (part.type === 'text' && part.text.trim() !== '' ? [part.text.trim()] : []))
  const questions = texts.map(afterTaggedBlocks).filter((text) => text !== '')
  return questions.length > 0 || isMore ? questions : texts
}

/** The wanted calls that were not made yet: a wire with one call at a time gets the next one each time. */
function openCalls(wanted: readonly WantedCall[], finished: readonly ToolCallPart[]): WantedCall[] {
  const answered = [...finished]
  return wanted.filter((want) => {
    const index = answered.findIndex(
      (call) => call.name === want.name && JSON.stringify(call.input) === JSON.stringify(want.input),
    )
    if (index >= 0) answered.splice(index, 1)
    return index < 0
  })
}

function forcedCalls({ requested, tools }: ResponderInput, turn: Turn): WantedCall[] {
  const { toolChoice } = requested
  if (turn.results.length > 0 || toolChoice === 'auto' || toolChoice === 'none') return []
  const tool = toolChoice === 'required' ? tools[0] : tools.find((candidate) => candidate.name === toolChoice.tool)
  if (!tool) return []
  const input = sampleOf(tool.input)
  return [{ name: tool.name, input: objectIn(input), ...callMarks(tool) }]
}

function callPart(call: WantedCall): ToolCallPart {
  return { type: 'tool-call', callId: '', ...call }
}

function inWords(situation: ResponderInput, turn: Turn): string {
  const answerSchema = schemaInWords(situation) ?? situation.requested.answerSchema
  if (answerSchema) return JSON.stringify(sampleOf({ type: 'object', ...answerSchema }))
  return `${emulatorLabel} ${turn.results.length > 0 ? resultsInWords(turn.results) : answerInWords(situation, turn)}`
}

/** The JSON Schema that the instructions ask for, where the provider has no field for it. */
function schemaInWords(situation: ResponderInput): JsonObject | undefined {
  const written = /\bJSON Schema\b[^\n]*\n(\{.*\})$/m.exec(instructionsOf(situation))?.[1]
  if (written === undefined) return undefined
  try {
    const schema = JSON.parse(written) as Json
    return isObject(schema) ? schema : undefined
  } catch {
    return undefined
  }
}

/** Some wires have them among the messages. */
function instructionsOf({ system, messages }: ResponderInput): string {
  const among = messages.flatMap((message) => (message.role === 'system' ? message.parts : []))
  return [...system, ...among].map((part) => part.text).join('\n')
}

function resultsInWords(results: readonly ToolResultPart[]): string {
  return results
    .map((result) => {
      const text = textOf(result.output).trim()
      const media = result.output.filter((part) => part.type === 'media').length
      const summary = [text === '' ? 'nothing' : text, media > 0 ? `(and ${media} media)` : ''].join(' ').trim()
      return `${result.name} ${result.failed ? 'failed' : 'answered'}: ${summary}`
    })
    .join('\n')
}

function answerInWords(situation: ResponderInput, turn: Turn): string {
  const { question, earlier } = turn
  if (/\bwhat (did|have) I (say|said|ask|asked|tell|told)\b.*\bfirst\b|\bmy first message\b/i.test(question)) {
    return `The first thing you said in this request is: ${JSON.stringify(earlier[0] ?? question)}`
  }
  if (/\bwhat (did|have) I (say|said|ask|asked|tell|told)\b|\bmy (last|previous) message\b/i.test(question)) {
    const previous = earlier.at(-1)
    return previous === undefined
      ? 'This request has nothing that you said before.'
      : `Before this you said: ${JSON.stringify(previous)}`
  }
  if (/\bhow many messages\b/i.test(question)) return countInWords(situation.messages)
  if (/\b(system prompt|your instructions)\b/i.test(question)) {
    const system = instructionsOf(situation)
    return system === '' ? 'This request has no instructions.' : `My instructions are: ${JSON.stringify(system)}`
  }
  if (/\bwhat('s| is) my name\b/i.test(question)) {
    const name = earlier.findLast((text) => nameIn.test(text))?.match(nameIn)?.[1]
    return name ? `You said that your name is ${name}.` : 'Nothing in this request tells me your name.'
  }
  const upTo = /\bcount to (\d{1,5})\b/i.exec(question)?.[1]
  if (upTo) return Array.from({ length: Number(upTo) }, (_, i) => i + 1).join(' ')
  const sums = wantedSums(question)
  if (sums.length > 0) return sums.map(([a, b]) => `${a} + ${b} = ${a + b}`).join(', ')
  if (wantsTime(question)) return 'This request offers me no tool that tells the time, and I have no clock.'
  return introduction(situation, question)
}

const nameIn = /\bmy name is ([\p{L}\p{N}'-]+)/iu

function countInWords(messages: readonly Message[]): string {
  const countOf = (role: Message['role']) => messages.filter((message) => message.role === role).length
  const parts = [
    `${countOf('user')} from you`,
    `${countOf('assistant')} from me`,
    `${countOf('tool')} with tool results`,
  ]
  return `This request has ${messages.length} messages: ${parts.join(', ')}.`
}

function introduction({ tools, messages }: ResponderInput, question: string): string {
  const media = messages.flatMap((message) => message.parts.filter((part) => part.type === 'media')).length
  const names = tools.map((tool) => tool.name)
  return [
    "I am Synapse's offline emulator, not a model: I follow a few fixed rules and know only this one request.",
    question === '' ? 'It has no text from you.' : `You said: ${JSON.stringify(shorten(question, 200))}`,
    media > 0 ? `It has ${media} ${media === 1 ? 'attachment' : 'attachments'}, which I cannot see.` : '',
    'I can tell what you said first or before, how many messages this request has and what my instructions are,',
    'add two numbers, and count to a number.',
    names.length > 0
      ? `I can call the tools that I am offered (${names.join(', ')}): ask for the time or a sum, or say "use the tool ${names[0]} with {…}".`
      : 'I am offered no tools in this request.',
  ]
    .filter((line) => line !== '')
    .join(' ')
}

function thoughtOf(situation: ResponderInput, turn: Turn, calls: readonly WantedCall[]): string {
  const seen = `This request has ${situation.messages.length} messages. The last question is ${JSON.stringify(shorten(turn.question, 80))}.`
  if (calls.length > 0) return `${seen} I call ${calls.map((call) => call.name).join(' and ')} for it.`
  return turn.results.length > 0 ? `${seen} The tools have answered, so I tell what they said.` : `${seen} I answer it.`
}

/** A summary of a conversation in a few lines: its beginning, the calls, its end. */
export function summaryOf(messages: readonly Message[]): string {
  const userTexts = messages.filter((message) => message.role === 'user').map((message) => textOf(message.parts).trim())
  const calls = messages.flatMap(callsOf)
  const names = [...new Set(calls.map((call) => call.name))]
  const reply = messages.findLast((message) => message.role === 'assistant' && textOf(message.parts) !== '')
  const summaries = messages.flatMap((message) =>
    message.parts.flatMap((part) => (part.type === 'compaction' && part.text ? [part.text] : [])),
  )
  return [
    ...summaries,
    `${emulatorLabel} Summary of ${messages.length} messages.`,
    ...userTexts.filter((text) => text !== '').map((text) => `The user said: ${JSON.stringify(shorten(text, 120))}`),
    names.length > 0 ? `Tools were called ${calls.length} times: ${names.join(', ')}.` : '',
    reply ? `The last answer was: ${JSON.stringify(shorten(textOf(reply.parts), 200))}` : '',
  ]
    .filter((line) => line !== '')
    .join('\n')
}

function shorten(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length)}…`.toWellFormed()
}
