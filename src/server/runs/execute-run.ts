// One run, from the head of its conversation to its end: the loop of the library, with its events stored and its cost
// tracked.

import { asFailure, type Failure } from '../../core/error.ts'
import type { RunEvent } from '../../core/event.ts'
import type { AgentFile } from '../../agents/read.ts'
import type { Toolbox } from '../../agents/toolbox.ts'
import { isObject, type JsonObject } from '../../core/json.ts'
import { noUsage } from '../../core/usage.ts'
import { conversationOf, type RunSettings, type Runtime } from '../../run/conversation.ts'
import type { pathCache } from '../../run/log/path-cache.ts'
import type { Store } from '../../store/store.ts'
import { addSpend } from '../keys.ts'
import { runTools, type RunTools } from '../run-tools.ts'
import type { RunStream } from './event-log.ts'
import type { StoredRun } from './run-record.ts'
import { servedEvent } from './served-event.ts'

export interface RunExecutor {
  store: Store
  endpoint: Runtime['endpoint']
  /** The tools that the conversations of an owner can use. */
  toolbox: (owner: string) => Toolbox
  paths: ReturnType<typeof pathCache>
  /** The settings of a run from what a conversation keeps. */
  settingsOf: (owner: string, stored: JsonObject) => StoredRun['settings']
}

export interface ExecutedRun {
  end: Extract<RunEvent, { type: 'run-end' }>
  cost?: number
}

/** Never throws for a failure of the run. */
export async function executeRun(
  performer: RunExecutor,
  run: StoredRun,
  stream: RunStream,
  stop: AbortController,
): Promise<ExecutedRun> {
  const { store, endpoint, toolbox, paths, settingsOf } = performer
  const { owner, conversationId } = run
  const place = { store, owner, conversationId }
  let tools: RunTools
  try {
    const stored = run.settings.agent === undefined ? {} : await storedSettings()
    // A run that is taken up again after it was handed over continues with the agent it was handed to.
    const settings = wasHandedOver(stored, run.id) ? settingsOf(owner, stored) : run.settings
    tools = await runTools(toolbox(owner), place, settings, handOver)
  } catch (error) {
    return { end: { type: 'run-end', outcome: 'failed', usage: noUsage, failure: asFailure(error) } }
  }
  const stores = { storesHandoffs: true, storesEvents: true }
  const server = { store, owner, endpoint, paths: (id: string) => paths(owner, id), ...stores }
  const chat = conversationOf(server, conversationId, tools.settings, tools.names)
  const going = chat.resume({ signal: stop.signal })
  let cost: number | undefined
  let overspent: Failure | undefined
  let exchangeId = ''
  for await (const event of going) {
    if (event.type === 'run-end') {
      // Already now, so that it can share a transaction with the end of the lease.
      void stream.flushed()
      continue
    }
    // Readers learn it from the stream: these events could not be written before it ended.
    if (event.type === 'store-waiting' || event.type === 'store-back') continue
    if (event.type === 'request') exchangeId = event.exchangeId
    if (event.type !== 'run-start' || stream.before === 0) stream.push(servedEvent(event))
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

  async function storedSettings(): Promise<JsonObject> {
    return (await store.conversation(owner, conversationId))?.settings ?? {}
  }

  async function handOver(agent: string): Promise<RunSettings> {
    const settings = settingsAfterHandoff(toolbox(owner).agent(agent), await storedSettings(), run.id)
    await store.updateConversation(owner, conversationId, { settings })
    return (await runTools(toolbox(owner), place, settingsOf(owner, settings), handOver)).settings
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

/** What a conversation stores after a hand-off: the other agent's settings apply from then on. */
function settingsAfterHandoff(agent: AgentFile & { sha256: string }, stored: JsonObject, run: string): JsonObject {
  const agentKeys = new Set(['system', 'tools', ...Object.keys(agent.settings)])
  const rest = Object.fromEntries(Object.entries(stored).filter(([name]) => !agentKeys.has(name)))
  const origin = isObject(stored['origin']) ? stored['origin'] : {}
  const bound = { file: agent.path, sha256: agent.sha256, named: false, run }
  return { ...rest, model: agent.settings.model, agent: agent.name, origin: { ...origin, agent: bound } }
}

/** Whether this run has handed the conversation to another agent. */
function wasHandedOver(stored: JsonObject, run: string): boolean {
  const origin = isObject(stored['origin']) ? stored['origin'] : {}
  return isObject(origin['agent']) && origin['agent']['run'] === run
}
