// Commands about what is sent to the model, and its cost.

import { badInput } from '../../core/error.ts'
import { escapedJson } from '../../core/json.ts'
import { count } from '../format-number.ts'
import { progressOn } from '../print.ts'
import type { ChatSession } from '../chat-session.ts'
import type { SlashCommands } from './context.ts'

export const contextCommands: SlashCommands = {
  context: {
    about: 'summarise the next request: tokens, price, cache, and what is left out',
    async run(_, { session, say, style, width }) {
      const { contextLines } = await import('../inspect/render.ts')
      say(contextLines(await nextRequest(session), width(), style).join('\n'))
    },
  },
  inspect: {
    takes: '[body]',
    about: 'show the next request, message by message, or its body',
    async run(rest, { session, say, style, width }) {
      if (rest !== '' && rest !== 'body') throw badInput('Use /inspect or /inspect body.')
      const looked = await nextRequest(session)
      if (rest === 'body') return say(escapedJson(looked.body, 2))
      const { inspectLines } = await import('../inspect/render.ts')
      say(inspectLines(looked, width(), style).join('\n'))
    },
    complete: async () => ['body'],
  },
  compact: {
    about: 'replace the older part of the conversation with a summary; /undo reverts it',
    async run(_, { session, say }) {
      const progress = progressOn()
      progress.tell(`Asking ${session.settings.model} for a summary …`)
      const compaction = await session.conversation.compact(session.settings).finally(progress.done)
      if (!compaction) return say('There is too little to summarise.')
      const by = { provider: 'the provider itself', model: 'the model', fold: 'Synapse, without a model' }[
        compaction.by
      ]
      const covered = count(compaction.decision.through + 1)
      say(`A summary by ${by} now represents the first ${covered} messages. The log keeps them; /undo reverts it.`)
    },
  },
  usage: {
    about: 'tokens, cost and cache share, by provider and model',
    async run(_, { session, say, style, width }) {
      const { addUp, offlineLine, savedLine, usageTable } = await import('../usage-rows.ts')
      const { store, owner } = session.local
      const rows = await store.usage(owner, { conversationId: session.conversation.id })
      if (rows.length === 0) return say('No messages yet.')
      const byModel = addUp(rows, 'model')
      const byProvider = addUp(rows, 'provider')
      const tables = [
        usageTable(byProvider, 'provider', width(), style),
        ...(byModel.length > byProvider.length ? [usageTable(byModel, 'model', width(), style)] : []),
      ]
      const offline = offlineLine(rows)
      const saved = savedLine(rows, await session.conversation.usage())
      const notes = [saved, offline].filter((line) => line !== undefined).map(style.dim)
      say([...tables.map((lines) => lines.join('\n')), ...notes].join('\n\n'))
    },
  },
}

async function nextRequest({ local, conversation, settings, endpoint }: ChatSession) {
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
