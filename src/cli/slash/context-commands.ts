// What goes to the model, and what it costs.

import { badInput } from '../../core/error.ts'
import { escapedJson } from '../../core/json.ts'
import { count } from '../format-number.ts'
import { progressOn } from '../progress.ts'
import type { ChatSession } from '../chat-session.ts'
import type { SlashCommands } from './context.ts'

export const contextCommands: SlashCommands = {
  context: {
    about: 'what would be sent now, in short: tokens, price, cache, what is left out',
    async run(_, { session, say, style, width }) {
      const { contextLines } = await import('../inspect/render.ts')
      say(contextLines(await looking(session), width(), style).join('\n'))
    },
  },
  inspect: {
    takes: '[body]',
    about: 'the request that would be sent now, message by message, or its body',
    async run(rest, { session, say, style, width }) {
      if (rest !== '' && rest !== 'body') throw badInput('Write /inspect, or /inspect body.')
      const looked = await looking(session)
      if (rest === 'body') return say(escapedJson(looked.body, 2))
      const { inspectLines } = await import('../inspect/render.ts')
      say(inspectLines(looked, width(), style).join('\n'))
    },
    complete: async () => ['body'],
  },
  compact: {
    about: 'replace with a summary the older part of the conversation; /undo takes it back',
    async run(_, { session, say }) {
      const progress = progressOn()
      progress.tell(`Asking ${session.settings.model} for a summary …`)
      const made = await session.conversation.compact(session.settings).finally(progress.done)
      if (!made) return say('There is too little to summarise.')
      const by = { provider: 'the provider itself', model: 'the model', fold: 'Synapse, without a model' }[made.by]
      const stands = count(made.decision.through + 1)
      say(`A summary by ${by} now represents the first ${stands} messages. The log keeps them; /undo takes it back.`)
    },
  },
  usage: {
    about: 'tokens, money and the share from caches, by provider and model',
    async run(_, { session, say, style, width }) {
      const { addUp, offlineLine, usageTable } = await import('../usage-rows.ts')
      const { store, owner } = session.local
      const rows = await store.usage(owner, { conversationId: session.conversation.id })
      if (rows.length === 0) return say('Nothing was asked yet.')
      const byModel = addUp(rows, 'model')
      const byProvider = addUp(rows, 'provider')
      const tables = [
        usageTable(byProvider, 'provider', width(), style),
        ...(byModel.length > byProvider.length ? [usageTable(byModel, 'model', width(), style)] : []),
      ]
      const offline = offlineLine(rows)
      say([...tables.map((lines) => lines.join('\n')), ...(offline ? [style.dim(offline)] : [])].join('\n\n'))
    },
  },
}

async function looking({ local, conversation, settings, endpoint }: ChatSession) {
  const { preview } = await import('../inspect/preview.ts')
  const history = await conversation.history()
  return preview({
    store: local.store,
    owner: local.owner,
    endpoint,
    conversationId: conversation.id,
    history,
    settings,
  })
}
