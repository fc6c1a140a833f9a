// Who answers, and with which tools.

import { badInput } from '../../core/error.ts'
import type { ListedModel } from '../../providers/list-models.ts'
import { neutral } from '../terminal.ts'
import type { ChatSession } from '../chat-session.ts'
import { toolNamed } from '../session-settings.ts'
import { checkModel } from '../choose-model.ts'
import type { SlashCommands } from './context.ts'

export const modelCommands: SlashCommands = {
  models: {
    takes: '[WORD]',
    about: 'the models of this provider, or all whose name has the word',
    async run(word, context) {
      const { modelTable } = await import('../model-list.ts')
      const all = await listed(context.session)
      const [provider = ''] = context.session.settings.model.split('/', 1)
      const found = all.filter((one) =>
        word ? `${one.provider}/${one.model}`.includes(word) : one.provider === provider,
      )
      if (found.length === 0) return context.say(`No model on the list has "${neutral(word || provider)}" in its name.`)
      context.say(modelTable(found, context.width(), context.style).join('\n'))
    },
    complete: async ({ session }) => [...new Set((await listed(session)).map((one) => one.provider))],
  },
  model: {
    takes: '[PROVIDER/MODEL]',
    about: 'continue with another model',
    async run(typed, { session, say }) {
      if (!typed) return say(neutral(session.settings.model))
      const model = await checkModel(typed, { offline: session.offline, env: process.env, rows: session.rows })
      session.settings.model = model
      delete session.settings.protocol
      const { store, owner } = session.local
      const { settings } = await session.conversation.info()
      await store.updateConversation(owner, session.conversation.id, { settings: { ...settings, model } })
      say(`Continuing with ${neutral(model)}.`)
    },
    complete: async ({ session }) => (await listed(session)).map(({ provider, model }) => `${provider}/${model}`),
  },
  tools: {
    takes: '[on|off NAME]',
    about: 'the tools that the model is offered; switch one on or off',
    async run(rest, { session, say, style }) {
      const offered = new Set(session.settings.tools)
      const [way, name] = rest.split(/\s+/)
      if (way) {
        if ((way !== 'on' && way !== 'off') || !name) throw badInput('Write /tools on NAME, or /tools off NAME.')
        const tool = toolNamed(name, session.tools)
        if (way === 'on') offered.add(tool)
        else offered.delete(tool)
        session.settings.tools = session.tools.filter((one) => offered.has(one))
      }
      const lines = session.tools.map((tool) => {
        const on = offered.has(tool)
        const line = `${on ? 'on ' : 'off'}  ${neutral(tool.name.padEnd(16))}  ${neutral(tool.description ?? '')}`
        return on ? line : style.dim(line)
      })
      say(lines.join('\n') || 'There are no tools.')
    },
    complete: async ({ session }) => session.tools.flatMap(({ name }) => [`on ${name}`, `off ${name}`]),
  },
}

async function listed({ rows }: ChatSession): Promise<ListedModel[]> {
  const [{ listModels }, { catalogue }] = await Promise.all([
    import('../../providers/list-models.ts'),
    import('../../providers/catalogue.ts'),
  ])
  return listModels(rows, catalogue)
}
