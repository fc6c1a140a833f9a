// An agent as a tool of another: it works in its own conversation, whose cost counts in its parent.

import { isObject } from '../core/json.ts'
import type { Tool } from '../core/tool.ts'
import { conversationOf } from '../run/conversation.ts'
import type { Runtime } from '../run/settings.ts'
import { settingsToStore } from '../run/stored-settings.ts'
import { subagentLabel } from '../run/usage.ts'
import type { Handoff } from '../settings/run.ts'

export function agentTool(runtime: Runtime, { name, description, settings: agentSettings }: Handoff): Tool {
  return {
    name,
    description: description ?? `Gives the agent ${name} a task and returns its answer.`,
    input: {
      type: 'object',
      properties: { task: { type: 'string', description: 'Everything that the agent must know to do it.' } },
      required: ['task'],
    },
    async run(input, { conversationId, context, signal, emit }) {
      const { store, owner } = runtime
      const settings = typeof agentSettings === 'function' ? await agentSettings() : agentSettings
      const { id } = await store.createConversation(owner, {
        settings: settingsToStore(settings),
        labels: [subagentLabel(conversationId)],
      })
      emit({ conversationId: id })
      const task = isObject(input) && typeof input.task === 'string' ? input.task : ''
      return conversationOf(runtime, id, settings).send(task, { signal, context }).text()
    },
  }
}
