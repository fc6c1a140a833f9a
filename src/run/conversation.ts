// A conversation that can be continued on any provider at any moment: the log in a store, and the loop over it.

import type { RunEvent } from '../core/event.ts'
import { asFailure, SynapseError } from '../core/error.ts'
import type { Conversation as Stored, Entry } from '../core/log.ts'
import { textOf, type Reply, type TextPart, type UserMessage } from '../core/message.ts'
import type { Options } from '../core/options.ts'
import type { Tool } from '../core/tool.ts'
import { noUsage } from '../core/usage.ts'
import type { Policy } from '../context/policy.ts'
import type { Endpoint } from '../providers/resolve.ts'
import type { Store } from '../store/store.ts'
import { channel } from './channel.ts'
import { holdLease } from './lease.ts'
import { loop, type RunEnd } from './loop.ts'
import type { Transport } from './running.ts'
import { settle } from './settle.ts'

const defaultMaxSteps = 50

/** Where and how to go on; anything can change from one message to the next. */
export interface RunSettings {
  /** `provider/model`, such as `anthropic/claude-opus-5`. */
  model: string
  /** One of the provider's wires; without it, its usual one. */
  protocol?: string
  system?: string
  tools?: readonly Tool[]
  options?: Options
  policy?: Policy
  maxSteps?: number
  signal?: AbortSignal
}

/** What a conversation needs from the house around it. */
export interface Surroundings {
  store: Store
  owner: string
  /** Finds who serves a model: by the rows of providers, or by an emulator in their place. */
  endpoint(model: string, protocol: string | undefined): Promise<{ endpoint: Endpoint; transport: Transport }>
}

/** A run under way. It goes on whether or not its events are read; only `abort` stops it. */
export interface Run extends AsyncIterable<RunEvent> {
  /** How it ended. Never rejects: what went wrong is in the outcome. */
  ended: Promise<RunEnd>
  abort(): void
  /** The text of the final reply; rejects if the run failed. */
  text(): Promise<string>
}

export interface Conversation {
  readonly id: string
  /** Appends what the user says, and answers it. */
  send(message: string | UserMessage['parts'], settings?: Partial<RunSettings>): Run
  /** Goes on where a run was interrupted. */
  resume(settings?: Partial<RunSettings>): Run
  /** The path from the root to where the conversation goes on, whole, whatever was sent of it. */
  history(): Promise<Entry[]>
  info(): Promise<Stored>
}

export function conversationOf(house: Surroundings, id: string, defaults: RunSettings): Conversation {
  const { store, owner } = house
  return {
    id,
    send: (message, settings) => start({ role: 'user', parts: partsOf(message) }, settings),
    resume: (settings) => start(undefined, settings),
    async history() {
      const { head } = await info()
      return head ? store.history(owner, head) : []
    },
    info,
  }

  async function info(): Promise<Stored> {
    const stored = await store.conversation(owner, id)
    if (!stored) throw new SynapseError({ kind: 'not-found', message: `There is no conversation ${id}.` })
    return stored
  }

  function start(message: UserMessage | undefined, given: Partial<RunSettings> = {}): Run {
    const settings = { ...defaults, ...given }
    const events = channel<RunEvent>()
    const stop = new AbortController()
    const ended = drive(settings, message, events.push, withSignal(stop, settings.signal)).finally(events.end)
    return {
      ended,
      abort: () => stop.abort(),
      text: async () => textOf((await succeeded(ended)).parts),
      [Symbol.asyncIterator]: () => events[Symbol.asyncIterator](),
    }
  }

  async function drive(
    settings: RunSettings,
    message: UserMessage | undefined,
    emit: (event: RunEvent) => void,
    signal: AbortSignal,
  ): Promise<RunEnd> {
    try {
      const { endpoint, transport } = await house.endpoint(settings.model, settings.protocol)
      const held = await holdLease(store, owner, id)
      try {
        await settle(store, owner, id, held.write)
        if (message) await nameAfter(message)
        const system: TextPart[] = settings.system ? [{ type: 'text', text: settings.system }] : []
        return await loop(
          {
            store,
            owner,
            conversationId: id,
            endpoint,
            system,
            tools: settings.tools ?? [],
            options: { cacheKey: id, ...settings.options },
            policy: settings.policy ?? 'full',
            maxSteps: settings.maxSteps ?? defaultMaxSteps,
            signal,
            transport,
            write: held.write,
            emit,
          },
          message,
        )
      } finally {
        await held.release()
      }
    } catch (error) {
      const failure = asFailure(error)
      emit({ type: 'run-end', outcome: 'failed', usage: noUsage, failure })
      return { outcome: 'failed', usage: noUsage, failure }
    }
  }

  /** A conversation without a title is named after its first words. */
  async function nameAfter(message: UserMessage): Promise<void> {
    const stored = await info()
    const title = textOf(message.parts).trim().split('\n', 1)[0]?.slice(0, 80)
    if (!stored.title && title) await store.updateConversation(owner, id, { title: title.toWellFormed() })
  }
}

function partsOf(message: string | UserMessage['parts']): UserMessage['parts'] {
  return typeof message === 'string' ? [{ type: 'text', text: message }] : message
}

function withSignal(stop: AbortController, outer: AbortSignal | undefined): AbortSignal {
  return outer ? AbortSignal.any([stop.signal, outer]) : stop.signal
}

async function succeeded(ended: Promise<RunEnd>): Promise<Reply> {
  const { failure, reply } = await ended
  if (failure) throw new SynapseError(failure)
  if (!reply) throw new SynapseError({ kind: 'aborted', message: 'The run ended before the model said anything.' })
  return reply
}
