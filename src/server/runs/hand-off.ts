// A run that hands its conversation to another agent: the new settings, which also apply if another process resumes the
// run.

import type { AgentFile } from '../../agents/read.ts'
import { isObject, type JsonObject } from '../../core/json.ts'

/** What a conversation stores after a hand-off: the other agent's settings apply from then on. */
export function settingsAfterHandoff(
  agent: AgentFile & { sha256: string },
  stored: JsonObject,
  run: string,
): JsonObject {
  const own = new Set(['system', 'tools', ...Object.keys(agent.settings)])
  const rest = Object.fromEntries(Object.entries(stored).filter(([name]) => !own.has(name)))
  const origin = isObject(stored['origin']) ? stored['origin'] : {}
  const bound = { file: agent.path, sha256: agent.sha256, named: false, run }
  return { ...rest, model: agent.settings.model, agent: agent.name, origin: { ...origin, agent: bound } }
}

/** Whether this run has handed the conversation to another agent. */
export function wasHandedOver(stored: JsonObject, run: string): boolean {
  const origin = isObject(stored['origin']) ? stored['origin'] : {}
  return isObject(origin['agent']) && origin['agent']['run'] === run
}
