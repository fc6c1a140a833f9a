// A session made again for each run, in the own form of each agent: what its files look like, not what our writers make
// of them. Everything that must arrive is listed beside it, and what must not.

import { randomBytes, randomInt, randomUUID } from 'node:crypto'
import type { Json, JsonObject } from '../../src/core/json.ts'

type Part = { text: string } | { picture: string }

interface Call {
  id: string
  name: string
  input: JsonObject
  /** Absent: not answered. */
  result?: { parts: Part[]; failed?: boolean }
}

type Event = { user: Part[] } | { thinking: string; text?: string; calls: Call[] } | { compaction: string }

export interface Unit {
  kind: 'user' | 'assistant' | 'call' | 'result' | 'picture'
  /** What is looked for; of a call its name and arguments. */
  value: string
}

export interface Generated {
  events: Event[]
  /** What the agent would send next. */
  units: Unit[]
  /** What belongs to the agent it comes from alone. */
  foreign: string[]
}

const samples = ['Grüße', '日本語のテスト', 'кириллица', 'عربي', '👩‍👩‍👧', 'naïve — “quotes”', 'a\tb\\n\n```js\nx\n```']

const words = (what: string): string =>
  `${what} ${randomBytes(4).toString('hex')} ${samples[randomInt(samples.length)]}`
const callId = (): string => `call_${randomBytes(8).toString('hex')}`

/** A PNG of one pixel, different each time by a comment in it. */
function picture(): string {
  const pixel = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  )
  const end = pixel.subarray(-12)
  const text = Buffer.from(`Comment\0${randomBytes(8).toString('hex')}`)
  const chunk = Buffer.concat([Buffer.from('tEXt'), text])
  const length = Buffer.alloc(4)
  length.writeUInt32BE(text.length)
  const crc = Buffer.alloc(4)
  crc.writeUInt32BE(crc32(chunk))
  return Buffer.concat([pixel.subarray(0, -12), length, chunk, crc, end]).toString('base64')
}

function crc32(bytes: Buffer): number {
  let crc = ~0
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  }
  return ~crc >>> 0
}

export function generate(): Generated {
  const said = (what: string): Part[] => [{ text: words(what) }]
  const call = (name: string, input: JsonObject, parts: Part[] | undefined, failed = false): Call => ({
    id: callId(),
    name,
    input,
    ...(parts && { result: { parts, ...(failed && { failed }) } }),
  })
  const reply = (calls: Call[] = [], text: string | null = words('reply')): Event => ({
    thinking: words('thinking'),
    ...(text !== null && { text }),
    calls,
  })
  const before: Event[] = [{ user: said('before the summary') }, reply()]
  const after: Event[] = [
    { user: [{ text: words('look') }, { picture: picture() }] },
    reply([
      call('exec_command', { cmd: words('ls'), depth: { list: [1, 2, { a: null }], flag: true } }, said('listing')),
      call('mcp__files__read', { path: words('/x') }, said('contents')),
      call('Bash', { command: words('false') }, said('it failed'), true),
    ]),
    reply([call('apply_patch', { input: `*** Begin Patch\n${words('patch')}` }, said('patched'))], null),
    reply([call('screenshot', {}, [{ text: words('shown') }, { picture: picture() }])]),
    reply([
      call('big', { n: randomInt(1e6) }, [
        { text: `${words('long')} ${'x'.repeat(9)} `.repeat(12_000).slice(0, 400_000) },
      ]),
    ]),
    { user: [{ text: `/mode ${words('command')}` }] },
    reply([call('stopped', { q: words('stopped') }, undefined)]),
    { user: said('last question') },
    reply(),
  ]
  const summary = words('summary')
  const events = [...before, { compaction: summary }, ...after]
  const foreign = events.flatMap((event) => ('thinking' in event ? [event.thinking] : []))
  foreign.push(
    ...before.flatMap((event) => ('user' in event ? textsOf(event.user) : 'text' in event ? [event.text ?? ''] : [])),
  )
  return { events, units: [{ kind: 'user', value: summary }, ...after.flatMap(unitsOf)], foreign }
}

function textsOf(parts: readonly Part[]): string[] {
  return parts.flatMap((part) => ('text' in part ? [part.text] : []))
}

function unitsOf(event: Event): Unit[] {
  if ('compaction' in event) return []
  if ('user' in event) {
    return event.user.map((part) =>
      'text' in part ? { kind: 'user', value: part.text } : { kind: 'picture', value: part.picture },
    )
  }
  return [
    ...(event.text === undefined ? [] : [{ kind: 'assistant' as const, value: event.text }]),
    ...event.calls.flatMap(({ name, input, result }): Unit[] => [
      { kind: 'call', value: `${name} ${JSON.stringify(input)}` },
      ...(result?.parts ?? []).map((part): Unit =>
        'text' in part ? { kind: 'result', value: part.text } : { kind: 'picture', value: part.picture },
      ),
    ]),
  ]
}

type Maker = (events: readonly Event[], cwd: string, id: string) => { lines: JsonObject[]; foreign?: string[] }

let clock = 0
const start = Date.parse('2026-11-01T10:00:00.000Z')
const next = (): string => new Date(start + 1000 * clock++).toISOString()

/** The file of a session as the agent itself would have left it. */
export const makers: Record<string, Maker> = {
  'claude-code'(events, cwd, sessionId) {
    let parentUuid: string | null = null
    const lines: JsonObject[] = []
    const side = words('sidechain')
    const put = (more: JsonObject): void => {
      const uuid = randomUUID()
      lines.push({
        parentUuid,
        isSidechain: false,
        userType: 'external',
        cwd,
        sessionId,
        version: '2.1.325',
        gitBranch: '',
        ...more,
        uuid,
        timestamp: next(),
      })
      parentUuid = uuid
    }
    const block = (part: Part): JsonObject =>
      'text' in part
        ? { type: 'text', text: part.text }
        : { type: 'image', source: { type: 'base64', media_type: 'image/png', data: part.picture } }
    for (const event of events) {
      if ('compaction' in event) {
        const logicalParentUuid: string | null = parentUuid
        parentUuid = null
        put({ type: 'system', subtype: 'compact_boundary', content: 'Conversation compacted', logicalParentUuid })
        put({ type: 'user', isCompactSummary: true, message: { role: 'user', content: event.compaction } })
      } else if ('user' in event) put({ type: 'user', message: { role: 'user', content: event.user.map(block) } })
      else {
        const id = `msg_${randomBytes(8).toString('hex')}`
        const blocks: JsonObject[] = [
          { type: 'thinking', thinking: event.thinking, signature: randomBytes(20).toString('base64') },
          ...(event.text === undefined ? [] : [{ type: 'text', text: event.text }]),
          ...event.calls.map((call) => ({ type: 'tool_use', id: call.id, name: call.name, input: call.input })),
        ]
        const usage = { input_tokens: 1, output_tokens: 1 }
        for (const content of blocks) {
          put({
            type: 'assistant',
            message: {
              id,
              type: 'message',
              role: 'assistant',
              model: 'claude-opus-5-5',
              content: [content],
              stop_reason: null,
              stop_sequence: null,
              usage,
            },
          })
        }
        for (const { id: tool_use_id, result } of event.calls) {
          if (!result) continue
          const content = [
            {
              type: 'tool_result',
              tool_use_id,
              content: result.parts.map(block),
              ...(result.failed && { is_error: true }),
            },
          ]
          put({ type: 'user', message: { role: 'user', content } })
        }
      }
    }
    const at = { cwd, sessionId, timestamp: next(), uuid: randomUUID(), parentUuid: null, isSidechain: true }
    // Sub-agents of older versions are in the same file.
    lines.splice(2, 0, { ...at, type: 'user', message: { role: 'user', content: side } })
    return { lines, foreign: [side] }
  },

  codex(events, cwd, id) {
    const line = (type: string, payload: JsonObject): JsonObject => ({ timestamp: next(), type, payload })
    const content = (part: Part): JsonObject =>
      'text' in part
        ? { type: 'input_text', text: part.text }
        : { type: 'input_image', image_url: `data:image/png;base64,${part.picture}` }
    const instructions = words('instructions of Codex')
    const meta = {
      id,
      timestamp: next(),
      cwd,
      originator: 'codex-tui',
      cli_version: '0.169.0',
      source: 'cli',
      base_instructions: { text: instructions },
    }
    const lines = [line('session_meta', meta), line('turn_context', { cwd, model: 'gpt-5.5' })]
    for (const event of events) {
      if ('compaction' in event) {
        const text = [{ type: 'input_text', text: event.compaction }]
        lines.push(
          line('compacted', {
            message: event.compaction,
            replacement_history: [{ type: 'message', role: 'user', content: text }],
          }),
        )
      } else if ('user' in event) {
        lines.push(line('event_msg', { type: 'user_message', message: textsOf(event.user).join('\n') }))
        lines.push(line('response_item', { type: 'message', role: 'user', content: event.user.map(content) }))
      } else {
        const summary = [{ type: 'summary_text', text: event.thinking }]
        lines.push(line('response_item', { type: 'reasoning', summary, content: null, encrypted_content: 'gAAA' }))
        if (event.text !== undefined) {
          lines.push(line('event_msg', { type: 'agent_message', message: event.text }))
          lines.push(
            line('response_item', {
              type: 'message',
              role: 'assistant',
              content: [{ type: 'output_text', text: event.text }],
            }),
          )
        }
        for (const { id: call_id, name, input } of event.calls) {
          const free = name === 'apply_patch'
          const payload: JsonObject = free
            ? { type: 'custom_tool_call', status: 'completed', call_id, name, input: input['input'] }
            : { type: 'function_call', name, arguments: JSON.stringify(input), call_id }
          lines.push(line('response_item', payload))
        }
        for (const { id: call_id, name, result } of event.calls) {
          if (!result) continue
          const [only] = result.parts
          const output: Json =
            result.parts.length === 1 && only && 'text' in only ? only.text : result.parts.map(content)
          lines.push(
            line('response_item', {
              type: name === 'apply_patch' ? 'custom_tool_call_output' : 'function_call_output',
              call_id,
              output,
            }),
          )
        }
      }
    }
    return { lines, foreign: [instructions] }
  },

  pi(events, cwd, id) {
    let parentId: string | null = null
    const lines: JsonObject[] = [{ type: 'session', version: 3, id, timestamp: next(), cwd }]
    const put = (more: JsonObject): string => {
      const own = randomBytes(4).toString('hex')
      lines.push({ ...more, id: own, parentId, timestamp: next() })
      parentId = own
      return own
    }
    const block = (part: Part): JsonObject =>
      'text' in part ? { type: 'text', text: part.text } : { type: 'image', data: part.picture, mimeType: 'image/png' }
    const usage = {
      input: 1,
      output: 1,
      cacheRead: 0,
      cacheWrite: 0,
      totalTokens: 2,
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
    }
    const said = (message: JsonObject): string => put({ type: 'message', message: { ...message, timestamp: start } })
    const aborted = words('aborted')
    for (const event of events) {
      if ('compaction' in event) {
        const entry = put({ type: 'compaction', summary: event.compaction, tokensBefore: 10 })
        // Nothing before it was kept.
        const last = lines.at(-1)
        if (last) last['firstKeptEntryId'] = entry
      } else if ('user' in event) said({ role: 'user', content: event.user.map(block) })
      else {
        const about = { api: 'anthropic-messages', provider: 'anthropic', model: 'claude-opus-5-5', usage }
        said({ role: 'assistant', content: [{ type: 'text', text: aborted }], ...about, stopReason: 'aborted' })
        const content = [
          { type: 'thinking', thinking: event.thinking, thinkingSignature: 'AAAA' },
          ...(event.text === undefined ? [] : [{ type: 'text', text: event.text }]),
          ...event.calls.map((call) => ({ type: 'toolCall', id: call.id, name: call.name, arguments: call.input })),
        ]
        said({ role: 'assistant', content, ...about, stopReason: event.calls.length > 0 ? 'toolUse' : 'stop' })
        for (const { id: toolCallId, name: toolName, result } of event.calls) {
          if (result)
            said({
              role: 'toolResult',
              toolCallId,
              toolName,
              content: result.parts.map(block),
              isError: result.failed === true,
            })
        }
      }
    }
    return { lines, foreign: [aborted] }
  },

  opencode(events, directory, id) {
    let n = 0
    const own = (prefix: string): string =>
      `${prefix}_${(n++).toString(16).padStart(12, '0')}${randomBytes(7).toString('hex')}`
    const lines: JsonObject[] = [
      {
        id,
        slug: 'made',
        projectID: 'global',
        directory,
        title: 'Made',
        version: '1.18.33',
        time: { created: start, updated: start + 1e6 },
      },
    ]
    let parentID = ''
    const chosen = { providerID: 'anthropic', modelID: 'claude-opus-5-5' }
    const put = (info: JsonObject, parts: JsonObject[]): void => {
      const messageID = own('msg')
      if (info['role'] === 'user') parentID = messageID
      const created = Date.parse(next())
      const times = info['role'] === 'user' ? { created } : { created, completed: created }
      lines.push({
        info: { id: messageID, sessionID: id, ...info, time: times },
        parts: parts.map((part) => ({ id: own('prt'), sessionID: id, messageID, ...part })),
      })
    }
    const user = (parts: JsonObject[]): void => put({ role: 'user', agent: 'build', model: chosen }, parts)
    const assistant = (parts: JsonObject[], more: JsonObject = {}): void =>
      put(
        {
          role: 'assistant',
          parentID,
          mode: 'build',
          agent: 'build',
          ...chosen,
          path: { cwd: directory, root: directory },
          cost: 0,
          tokens: { input: 0, output: 0, reasoning: 0, cache: { read: 0, write: 0 } },
          finish: 'stop',
          ...more,
        },
        parts,
      )
    const file = (part: Part): JsonObject =>
      'text' in part
        ? { type: 'text', text: part.text }
        : { type: 'file', mime: 'image/png', url: `data:image/png;base64,${part.picture}` }
    for (const event of events) {
      if ('compaction' in event) {
        user([{ type: 'compaction', auto: false }])
        assistant([{ type: 'text', text: event.compaction }], { summary: true, mode: 'compaction' })
      } else if ('user' in event) user(event.user.map(file))
      else {
        const tools = event.calls.map(({ id: callID, name: tool, input, result }): JsonObject => {
          const time = { start, end: start }
          const output = textsOf(result?.parts ?? []).join('')
          const pictures = (result?.parts ?? []).filter((part) => 'picture' in part).map(file)
          const attachments = pictures.map((one) => ({ id: own('prt'), sessionID: id, messageID: 'msg_0', ...one }))
          if (!result) return { type: 'tool', callID, tool, state: { status: 'pending', input, raw: '' } }
          if (result.failed)
            return { type: 'tool', callID, tool, state: { status: 'error', input, error: output, metadata: {}, time } }
          const state = {
            status: 'completed',
            input,
            output,
            title: '',
            metadata: {},
            time,
            ...(attachments.length > 0 && { attachments }),
          }
          return { type: 'tool', callID, tool, state }
        })
        const thought = { type: 'reasoning', text: event.thinking, time: { start, end: start } }
        assistant([thought, ...(event.text === undefined ? [] : [{ type: 'text', text: event.text }]), ...tools])
      }
    }
    return { lines }
  },

  'gemini-cli'(events, cwd, sessionId) {
    const lines: JsonObject[] = [
      {
        sessionId,
        projectHash: randomBytes(32).toString('hex'),
        startTime: next(),
        lastUpdated: next(),
        kind: 'main',
        directories: [cwd],
      },
    ]
    const part = (one: Part): JsonObject =>
      'text' in one ? { text: one.text } : { inlineData: { mimeType: 'image/png', data: one.picture } }
    const put = (more: JsonObject): void => void lines.push({ id: randomUUID(), timestamp: next(), ...more })
    for (const event of events) {
      if ('compaction' in event) {
        // A compressed history replaces all records before it.
        lines.push({
          $set: {
            messages: [{ id: randomUUID(), timestamp: next(), type: 'user', content: [{ text: event.compaction }] }],
          },
        })
      } else if ('user' in event) {
        // It keeps commands out of its history itself; the words before them are ours.
        const [first] = event.user
        const isCommand = first && 'text' in first && first.text.startsWith('/')
        put({ type: 'user', content: [...(isCommand ? [{ text: 'Typed: ' }] : []), ...event.user.map(part)] })
      } else {
        const toolCalls = event.calls.map(({ id, name, input, result }): JsonObject => {
          if (!result) return { id, name, args: input, status: 'cancelled', timestamp: next() }
          const text = textsOf(result.parts).join('')
          const pictures = result.parts.filter((one) => 'picture' in one).map(part)
          const response = result.failed ? { error: text } : { output: text }
          const functionResponse = { id, name, response, ...(pictures.length > 0 && { parts: pictures }) }
          return {
            id,
            name,
            args: input,
            result: [{ functionResponse }],
            status: result.failed ? 'error' : 'success',
            timestamp: next(),
          }
        })
        const thoughts = [{ subject: 'S', description: event.thinking, timestamp: next() }]
        put({
          type: 'gemini',
          content: event.text ?? '',
          thoughts,
          model: 'gemini-2.5-pro',
          ...(toolCalls.length > 0 && { toolCalls }),
        })
      }
    }
    return { lines }
  },

  'qwen-code'(events, cwd, sessionId) {
    let parentUuid: string | null = null
    const lines: JsonObject[] = []
    const put = (type: string, more: JsonObject): void => {
      const uuid = randomUUID()
      lines.push({ uuid, parentUuid, sessionId, timestamp: next(), type, cwd, version: '0.24.4', ...more })
      parentUuid = uuid
    }
    const part = (one: Part): JsonObject =>
      'text' in one ? { text: one.text } : { inlineData: { mimeType: 'image/png', data: one.picture } }
    for (const event of events) {
      if ('compaction' in event) {
        const compressedHistory = [{ role: 'user', parts: [{ text: event.compaction }] }]
        put('system', { subtype: 'chat_compression', systemPayload: { info: {}, compressedHistory } })
      } else if ('user' in event) put('user', { message: { role: 'user', parts: event.user.map(part) } })
      else {
        const parts = [
          { text: event.thinking, thought: true },
          ...(event.text === undefined ? [] : [{ text: event.text }]),
          ...event.calls.map(({ id, name, input }) => ({ functionCall: { id, name, args: input } })),
        ]
        put('assistant', { message: { role: 'model', parts }, model: 'qwen3-coder-plus' })
        for (const { id, name, result } of event.calls) {
          if (!result) continue
          const text = textsOf(result.parts).join('')
          const pictures = result.parts.filter((one) => 'picture' in one).map(part)
          const response = result.failed ? { error: text } : { output: text }
          const functionResponse = { id, name, response, ...(pictures.length > 0 && { parts: pictures }) }
          put('tool_result', {
            message: { role: 'user', parts: [{ functionResponse }] },
            toolCallResult: { callId: id, status: result.failed ? 'error' : 'success' },
          })
        }
      }
    }
    return { lines }
  },
}
