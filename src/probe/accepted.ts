// The requests that every service should accept: each tests one feature of the encoder, as small as possible. The texts
// are fixed, so a report never contains anything that a user wrote.

import type { ToolSpec } from '../core/context.ts'
import type { JsonObject } from '../core/json.ts'
import { callsOf, textOf, type MediaPart, type Message, type Reply, type ToolMessage } from '../core/message.ts'
import type { Usage } from '../core/usage.ts'
import type { Endpoint } from '../providers/resolve.ts'
import { checkAnswer } from '../run/answer.ts'
import type { Options } from '../settings/options.ts'
import { foreignReply } from './foreign-reply.ts'

export interface AcceptedCheck {
  id: string
  /** A short description of the request. */
  about: string
  /** Continues the reply to this check. */
  after?: string
  /** The provider counts the tokens instead of replying. */
  counts?: true
  /** Whether this service supports it; by default every one does. */
  applies?(endpoint: Endpoint): boolean
  draft(endpoint: Endpoint, reply: Reply): Draft
  /** What an accepted request should have returned, but did not. */
  missing?(answer: Answer, endpoint: Endpoint): string | undefined | Promise<string | undefined>
}

export interface Draft {
  history: Message[]
  system?: string
  tools?: ToolSpec[]
  options?: Options
}

/** What was read from an accepted request. */
interface Answer {
  reply: Reply
  usage?: Usage
}

const clock: ToolSpec = {
  name: 'clock',
  description: 'Tells the current time in a time zone.',
  input: {
    type: 'object',
    properties: { zone: { type: 'string', description: 'IANA time zone, such as UTC' } },
    required: ['zone'],
    additionalProperties: false,
  },
}

/** A schema with features in which providers differ: a reference, a choice, a tuple and null. */
const intricate: ToolSpec = {
  name: 'plan',
  description: 'Plans a route.',
  input: {
    type: 'object',
    properties: {
      start: { $ref: '#/$defs/place' },
      by: { anyOf: [{ type: 'string', enum: ['foot', 'bus'] }, { type: 'null' }] },
      box: { type: 'array', prefixItems: [{ type: 'number' }, { type: 'number' }] },
    },
    required: ['start'],
    $defs: { place: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } },
  },
}

/** Names that most wires do not accept unchanged. */
const oddlyNamed: ToolSpec = { ...clock, name: `time.zones/clock ${'x'.repeat(70)}` }

const answerSchema: JsonObject = {
  type: 'object',
  properties: { color: { type: 'string' } },
  required: ['color'],
  additionalProperties: false,
}

/** 32 × 32 pixels, all red: smaller images are refused by some services. */
const redSquare: MediaPart = {
  type: 'media',
  mediaType: 'image/png',
  data: {
    kind: 'base64',
    base64:
      'iVBORw0KGgoAAAANSUhEUgAAACAAAAAgCAIAAAD8GO2jAAAAJ0lEQVR42u3NsQkAAAjAsP7/tF7hIASyp6lTCQQCgUAgEAgEgi/BAjLD/C5w/SM9AAAAAElFTkSuQmCC',
  },
}

export const acceptedChecks: readonly AcceptedCheck[] = [
  { id: 'plain', about: 'a question', draft: () => ({ history: [userMessage('Say ok.')] }), missing: noText },
  {
    id: 'stream',
    about: 'the same, streamed',
    draft: () => ({ history: [userMessage('Say ok.')], options: { stream: true } }),
    missing: ({ reply, usage }) => noText({ reply }) ?? (usage ? undefined : 'no usage in the stream'),
  },
  {
    id: 'system',
    about: 'with a system prompt, and one in the middle',
    draft: () => ({
      system: 'Be brief.',
      history: [
        userMessage('Say ok.'),
        replyOf([{ type: 'text', text: 'Ok.' }]),
        { role: 'system', parts: [{ type: 'text', text: 'Answer in French.' }] },
        userMessage('Say yes.'),
      ],
    }),
    missing: noText,
  },
  {
    id: 'tool-call',
    about: 'a tool that must be called',
    draft: ({ capabilities }) => ({
      history: [userMessage('What time is it in UTC? Use the tool clock.')],
      tools: [clock],
      options: { maxOutput: 200, stream: true, ...(capabilities.forcedTool && { toolChoice: 'required' }) },
    }),
    missing: noCall,
    applies: takesTools,
  },
  {
    id: 'tool-result',
    about: 'the result of that call, after the unchanged reply',
    after: 'tool-call',
    draft: (_, reply) => ({
      history: [userMessage('What time is it in UTC? Use the tool clock.'), reply, ...results(reply)],
      tools: [clock],
    }),
    applies: takesTools,
  },
  {
    id: 'thinking',
    about: 'a tool call with low effort',
    draft: () => ({
      history: [userMessage('What time is it in UTC? Use the tool clock.')],
      tools: [clock],
      options: { maxOutput: 400, effort: 'low', stream: true },
    }),
    missing: noCall,
    applies: (endpoint) => takesTools(endpoint) && thinks(endpoint),
  },
  {
    id: 'thinking-replay',
    about: 'the result of that call, with the unchanged thinking',
    after: 'thinking',
    draft: (_, reply) => ({
      history: [userMessage('What time is it in UTC? Use the tool clock.'), reply, ...results(reply)],
      tools: [clock],
      options: { maxOutput: 400, effort: 'low' },
    }),
    applies: (endpoint) => takesTools(endpoint) && thinks(endpoint),
  },
  {
    id: 'parallel-tools',
    about: 'a history with two calls at once',
    draft: () => {
      const reply = replyOf([callOf('one', 'UTC'), callOf('two', 'Asia/Tokyo')])
      return {
        history: [userMessage('What time is it in UTC and in Tokyo?'), reply, ...results(reply)],
        tools: [clock],
      }
    },
    applies: takesTools,
  },
  {
    id: 'tool-error',
    about: 'a history with a call that failed',
    draft: () => {
      const reply = replyOf([callOf('one', 'Mars')])
      return {
        history: [userMessage('What time is it on Mars?'), reply, ...results(reply, { failed: true })],
        tools: [clock],
      }
    },
    applies: takesTools,
  },
  {
    id: 'orphan',
    about: 'a history with a call that was never answered',
    draft: () => ({
      history: [
        userMessage('What time is it in UTC?'),
        replyOf([callOf('one', 'UTC')]),
        userMessage('Never mind. Say ok.'),
      ],
      tools: [clock],
    }),
    applies: takesTools,
  },
  {
    id: 'no-tools',
    about: 'a history with calls, and no tools any more',
    draft: () => {
      const reply = replyOf([callOf('one', 'UTC')])
      return { history: [userMessage('What time is it in UTC?'), reply, ...results(reply), userMessage('Say ok.')] }
    },
  },
  {
    id: 'interrupted',
    about: 'a history with an interrupted reply',
    draft: () => ({
      history: [
        userMessage('Count to ten.'),
        { ...replyOf([{ type: 'text', text: 'One, two,' }]), stop: { reason: 'interrupted' } },
        userMessage('Say ok.'),
      ],
    }),
  },
  {
    id: 'switched',
    about: 'a history of another provider, with its thinking and calls',
    draft: ({ protocol }) => {
      const reply = foreignReply(protocol.id)
      return {
        history: [userMessage('What time is it in UTC?'), reply, ...results(reply), userMessage('Say ok.')],
        tools: [clock],
      }
    },
    applies: takesTools,
  },
  {
    id: 'image',
    about: 'an image',
    draft: () => ({ history: [{ role: 'user', parts: [{ type: 'text', text: 'Which color?' }, redSquare] }] }),
    applies: ({ capabilities }) => takesPng(capabilities.media),
  },
  {
    id: 'image-result',
    about: 'an image in the result of a tool',
    draft: () => {
      const reply = replyOf([callOf('one', 'UTC')])
      return {
        history: [userMessage('Show me the clock.'), reply, ...results(reply, { image: redSquare })],
        tools: [clock],
      }
    },
    applies: (endpoint) => takesTools(endpoint) && takesPng(endpoint.capabilities.media),
  },
  {
    id: 'intricate-schema',
    about: 'a tool with references, choices and tuples',
    draft: () => ({ history: [userMessage('Say ok.')], tools: [intricate], options: { toolChoice: 'auto' } }),
    applies: takesTools,
  },
  {
    id: 'tool-name',
    about: 'a tool with a long name and signs in it',
    draft: () => ({ history: [userMessage('Say ok.')], tools: [oddlyNamed] }),
    applies: takesTools,
  },
  {
    id: 'cache-mark',
    about: 'a mark or a key for the prompt cache',
    draft: () => ({
      system: 'Be brief.',
      history: [userMessage('Say ok.'), replyOf([{ type: 'text', text: 'Ok.' }]), userMessage('Again.')],
      options: { cacheKey: 'synapse-probe' },
    }),
    applies: ({ capabilities, quirks }) => capabilities.cacheMarks === true || quirks.cacheKey === true,
  },
  {
    id: 'structured',
    about: 'an answer that must fit a schema',
    draft: () => ({
      history: [userMessage('What color is the sky? Answer as JSON with the field color.')],
      options: { answerSchema, maxOutput: 200 },
    }),
    async missing({ reply }, { capabilities }) {
      // Without support for schemas the model is only asked to comply, which shows nothing about the service.
      const { answer = 'schema' } = capabilities
      if (reply.stop.reason === 'length' || answer === 'none') return undefined
      const checked = await checkAnswer(answer === 'schema' ? answerSchema : { type: 'object' }, textOf(reply.parts))
      return 'problem' in checked ? 'an answer that does not fit the schema' : undefined
    },
  },
  {
    id: 'token-count',
    about: 'the number of tokens of a question with a tool',
    counts: true,
    draft: () => ({ system: 'Be brief.', history: [userMessage('Say ok.')], tools: [clock] }),
    applies: ({ counting }) => counting !== undefined,
  },
]

function takesTools({ capabilities }: Endpoint): boolean {
  return capabilities.tools
}

function thinks({ capabilities }: Endpoint): boolean {
  return capabilities.efforts.some((effort) => effort !== 'none')
}

function takesPng(media: readonly string[]): boolean {
  return media.includes('image/png') || media.includes('image/*')
}

/** An answer that was cut off at the limit shows nothing about the service. */
function noText({ reply }: Pick<Answer, 'reply'>): string | undefined {
  return reply.stop.reason === 'length' || textOf(reply.parts) !== '' ? undefined : 'a reply without text'
}

function noCall({ reply }: Answer): string | undefined {
  if (reply.stop.reason === 'length') return undefined
  const called = callsOf(reply)
  if (called.length === 0) return 'a reply without a tool call'
  const other = called.find(({ name, malformed }) => name !== 'clock' || malformed !== undefined)
  return other && `a call that is not one of the tool: ${other.name}`
}

function userMessage(text: string): Message {
  return { role: 'user', parts: [{ type: 'text', text }] }
}

/** A reply that is not in the native form of any wire. */
export function replyOf(parts: Reply['parts']): Reply {
  const asks = parts.some((part) => part.type === 'tool-call')
  return {
    role: 'assistant',
    parts,
    native: [],
    origin: { protocol: 'none', provider: 'none', model: 'none' },
    stop: { reason: asks ? 'tool-calls' : 'done' },
  }
}

export function callOf(callId: string, zone: string): Reply['parts'][number] {
  return { type: 'tool-call', callId, name: 'clock', input: { zone } }
}

function results(reply: Reply, { failed, image }: { failed?: true; image?: MediaPart } = {}): ToolMessage[] {
  return callsOf(reply).map(({ callId, name }) => ({
    role: 'tool',
    parts: [
      {
        type: 'tool-result',
        callId,
        name,
        output: [{ type: 'text', text: failed ? 'There is no such time zone.' : '12:00' }, ...(image ? [image] : [])],
        ...(failed && { failed }),
      },
    ],
  }))
}
