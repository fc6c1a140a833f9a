// An agent as far as it can be known without loading its code: its settings from its file, and its tools from the last
// request of the conversation.

import { readAgent } from '../../agents/read.ts'
import type { Conversation } from '../../core/log.ts'
import type { Tool } from '../../core/tool.ts'
import { readTranscript } from '../../transcripts/index.ts'
import type { LocalStore } from '../local-store.ts'
import { placeNamed, placeOfBound } from '../open-agent.ts'
import type { SessionFlags } from '../session-flags.ts'
import type { AgentSetup } from '../session-settings.ts'
import { tell } from '../trusted.ts'
import { lastRequests } from './preview.ts'

/** The named agent, or the one that the conversation is bound to; undefined: there is none to read. */
export async function unloadedAgent(
  stored: Conversation,
  values: SessionFlags,
  local: LocalStore,
): Promise<AgentSetup | undefined> {
  if (values.agent === undefined && typeof stored.settings['agent'] !== 'string') return undefined
  const place =
    values.agent === undefined
      ? await placeOfBound(stored.settings, values, local, false)
      : await placeNamed(values.agent, values, local)
  if (typeof place === 'string') {
    tell([place])
    return undefined
  }
  const agent = readAgent(place.file, place.config)
  const tools = agent.tools.length > 0 ? await toolsLastOffered(local, stored.id) : []
  if (agent.tools.length > 0 && tools.length === 0)
    tell([`The tools of ${agent.name} are not shown: no code is loaded here, and no earlier request lists them.`])
  return { file: place.file, config: place.config, settings: { ...agent.settings, tools } }
}

/** From the last request of the conversation; they cannot be run. */
export async function toolsLastOffered({ store, owner }: LocalStore, conversationId: string): Promise<Tool[]> {
  const [last] = await lastRequests({ store, owner, conversationId }, 1, ({ notes }) =>
    notes.every((note) => note.rule !== 'compaction-request'),
  )
  if (!last) return []
  const { tools = [] } = readTranscript(last.body, { format: last.exchange.protocol })
  return tools.map((spec) => ({
    ...spec,
    run: () => {
      throw new Error('This command runs no tools.')
    },
  }))
}
