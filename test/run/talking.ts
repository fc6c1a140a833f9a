// A conversation step by step, with a clock to turn: for tests of what is sent, which need no more of the loop than
// that results follow calls.

import type { RunEvent } from '../../src/core/event.ts'
import type { JsonObject } from '../../src/core/json.ts'
import type { Entry, Exchange, Overlay } from '../../src/core/log.ts'
import { callsOf, type Reply, type ToolMessage, type UserMessage } from '../../src/core/message.ts'
import type { Options } from '../../src/settings/options.ts'
import type { Tool } from '../../src/core/tool.ts'
import type { Policy } from '../../src/settings/policy.ts'
import { endpointFinder } from '../../src/runtime/open.ts'
import { compactHistory, type Compacted, type CompactionOptions } from '../../src/run/compaction/compact.ts'
import { exchange } from '../../src/run/request/exchange.ts'
import { explainNext, type NextRequest } from '../../src/run/request/inspect.ts'
import type { RunContext } from '../../src/run/run-context.ts'
import { readDecisions } from '../../src/context/overlay-codec.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import type { Store } from '../../src/store/store.ts'
import { createEmulator, type Emulator, type EmulatorOptions } from '../../src/testing.ts'

export interface Talk {
  emulator: Emulator
  store: Store
  conversationId: string
  clock: { now: number }
  history: Entry[]
  events: RunEvent[]
  /** Says something and lets the model continue until it rests; gives the last exchange. */
  say(text: string, settings?: Partial<TalkSettings>): Promise<Exchange>
  /** The last bodies that the emulator received. */
  bodies(): JsonObject[]
  overlays(kind?: string): Promise<Overlay[]>
  exchanges(): Promise<Exchange[]>
  compact(settings?: Partial<TalkSettings>, options?: Partial<CompactionOptions>): Promise<Compacted | undefined>
  /** What would be sent now, without sending it. */
  look(settings?: Partial<TalkSettings>): Promise<NextRequest>
  /** Continues from an earlier entry. */
  fork(length: number): Promise<void>
}

export interface TalkSettings {
  model: string
  protocol?: string
  policy?: Policy
  options?: Options
  system?: string
  tools?: Tool[]
  /** What each call is answered with. */
  result?: (name: string) => string
  /** Between two requests of a tool loop. */
  stepMs?: number
  contextWindow?: number
  signal?: AbortSignal
}

const owner = 'local'

export async function talk(defaults: TalkSettings, emulation: EmulatorOptions = {}): Promise<Talk> {
  const clock = { now: Date.parse('2026-11-15T12:00:00Z') }
  const emulator = createEmulator({ now: () => clock.now, keep: 10_000, ...emulation })
  const store = openMemoryStore({ now: () => clock.now })
  const find = await endpointFinder({ offline: emulator, env: {}, transport: { sleep: async () => {} } })
  const { id: conversationId } = await store.createConversation(owner)
  const history: Entry[] = []
  const events: RunEvent[] = []

  async function running(settings: TalkSettings): Promise<RunContext> {
    const { endpoint, transport } = await find(settings.model, settings.protocol)
    const capabilities = {
      ...endpoint.capabilities,
      ...(settings.contextWindow !== undefined && { contextWindow: settings.contextWindow }),
    }
    return {
      store,
      owner,
      conversationId,
      endpoint: { ...endpoint, capabilities },
      transport,
      system: settings.system ? [{ type: 'text', text: settings.system }] : [],
      tools: settings.tools ?? [],
      options: { cacheKey: conversationId, ...settings.options },
      policy: settings.policy ?? 'economy',
      maxSteps: 100,
      signal: settings.signal ?? new AbortController().signal,
      write: () => ({}),
      emit: (event) => events.push(event),
    }
  }

  async function append(message: UserMessage | ToolMessage): Promise<void> {
    history.push(await store.append(owner, conversationId, { message }))
  }

  return {
    emulator,
    store,
    conversationId,
    clock,
    history,
    events,
    async say(text, given = {}) {
      const settings = { ...defaults, ...given }
      const run = await running(settings)
      await append({ role: 'user', parts: [{ type: 'text', text }] })
      for (let step = 1; ; step++) {
        const { entry, exchange: done } = await exchange(run, history, step)
        clock.now += 1000
        if (entry) history.push(entry)
        const reply = entry?.message as Reply | undefined
        if (reply?.stop.reason !== 'tool-calls') return done
        for (const { callId, name } of callsOf(reply)) {
          const output = [{ type: 'text' as const, text: settings.result?.(name) ?? 'ok' }]
          await append({ role: 'tool', parts: [{ type: 'tool-result', callId, name, output }] })
        }
        clock.now += settings.stepMs ?? 4000
      }
    },
    bodies: () => emulator.requests.map((request) => request.body as JsonObject),
    async overlays(kind) {
      const all = await store.overlays(owner, conversationId)
      return all.filter((overlay) => kind === undefined || overlay.kind === kind)
    },
    exchanges: async () => (await store.exchanges(owner, conversationId, { limit: 500 })).items,
    async compact(given = {}, options = {}) {
      const run = await running({ ...defaults, ...given })
      const decisions = readDecisions(history, await store.overlays(owner, conversationId))
      return compactHistory(run, history, decisions, { why: 'asked for', limit: 100_000, head: 0, ...options })
    },
    look: async (given = {}) => explainNext(await running({ ...defaults, ...given }), history),
    async fork(length) {
      history.length = length
      await store.setHead(owner, conversationId, { entryId: history.at(-1)?.id ?? null })
    },
  }
}

/** A tool that the emulator's brain calls when it is asked for the time. */
export const clockTool: Tool = {
  name: 'clock',
  description: 'Tells the current time.',
  input: { type: 'object', properties: {} },
  run: () => '12:00',
}
