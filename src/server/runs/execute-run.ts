// One run, from where its conversation is to its end: the loop of the library, with its events written down and its
// price watched.

import { asFailure, SynapseError, type Failure } from '../../core/error.ts'
import type { RunEvent } from '../../core/event.ts'
import type { Tool } from '../../core/tool.ts'
import { conversationOf, type RunSettings, type Runtime } from '../../run/conversation.ts'
import type { pathCache } from '../../run/path-cache.ts'
import type { Store } from '../../store/store.ts'
import { addSpend } from '../keys.ts'
import type { Settings } from '../schema.ts'
import type { RunStream } from './event-log.ts'
import type { StoredRun } from './run-record.ts'

export interface RunExecutor {
  store: Store
  endpoint: Runtime['endpoint']
  tools: readonly Tool[]
  paths: ReturnType<typeof pathCache>
}

export interface ExecutedRun {
  end: Extract<RunEvent, { type: 'run-end' }>
  cost?: number
}

/** Never throws for what the run did. */
export async function executeRun(
  performer: RunExecutor,
  run: StoredRun,
  stream: RunStream,
  stop: AbortController,
): Promise<ExecutedRun> {
  const { store, endpoint, tools, paths } = performer
  const { owner, conversationId } = run
  const server = { store, owner, endpoint, paths: (id: string) => paths(owner, id) }
  const chat = conversationOf(server, conversationId, runSettings(run.settings, tools))
  const going = chat.resume({ signal: stop.signal })
  let cost: number | undefined
  let overspent: Failure | undefined
  let exchangeId = ''
  for await (const event of going) {
    if (event.type === 'run-end') {
      // Already now: so it can share a transaction with the end of the lease.
      void stream.flushed()
      continue
    }
    // Whoever reads the events is told by the stream itself: these could not be written before it is over.
    if (event.type === 'store-waiting' || event.type === 'store-back') continue
    if (event.type === 'request') exchangeId = event.exchangeId
    if (event.type !== 'run-start' || stream.before === 0) stream.push(event)
    if (event.type === 'message' && event.message.role === 'assistant') await pay()
    if (stream.lost) stop.abort()
  }
  const { outcome, usage, failure, answer } = await going.ended
  const why = overspent ?? failure
  return {
    end: {
      type: 'run-end',
      outcome: overspent ? 'failed' : outcome,
      usage,
      ...(why && { failure: why }),
      ...(answer && { answer }),
    },
    ...(cost !== undefined && { cost }),
  }

  async function pay(): Promise<void> {
    try {
      const paid = (await store.exchange(owner, exchangeId))?.cost
      if (paid === undefined) return
      cost = (cost ?? 0) + paid
      if (run.keyId === undefined) return
      const spent = await addSpend(store, run.keyId, paid)
      if (run.budget === undefined || spent < run.budget) return
      overspent = budgetUsed(run.budget)
    } catch (error) {
      if (run.budget === undefined) return
      overspent = asFailure(error)
    }
    stop.abort()
  }
}

export function budgetUsed(budget: number): Failure {
  return { kind: 'quota', message: `The budget of this key, $${budget}, is used up.` }
}

/** What a request says, as the library takes it. */
export function runSettings(settings: Settings & { model: string }, tools: readonly Tool[]): RunSettings {
  const { tools: names, ...rest } = settings
  return { ...rest, tools: toolsNamed(names, tools) }
}

export function toolsNamed(names: readonly string[] | undefined, tools: readonly Tool[]): readonly Tool[] {
  if (!names) return tools
  return names.map((name) => {
    const found = tools.find((tool) => tool.name === name)
    if (found) return found
    const known = tools.map((tool) => tool.name).join(', ') || 'none'
    throw new SynapseError({ kind: 'bad-input', message: `There is no tool "${name}". The tools are: ${known}.` })
  })
}
