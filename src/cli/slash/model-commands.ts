// Who answers, and with which tools.

import { badInput } from '../../core/error.ts'
import type { ListedModel } from '../../providers/list-models.ts'
import { neutral } from '../terminal.ts'
import type { Talk } from '../talk.ts'
import { toolNamed } from '../talk-setup.ts'
import { checkModel } from '../who-answers.ts'
import type { SlashCommands } from './desk.ts'

export const modelCommands: SlashCommands = {
  models: {
    takes: '[WORD]',
    about: 'the models of this provider, or all whose name has the word',
    async run(word, desk) {
      const { modelTable } = await import('../model-list.ts')
      const all = await listed(desk.talk)
      const [provider = ''] = desk.talk.settings.model.split('/', 1)
      const found = all.filter((one) =>
        word ? `${one.provider}/${one.model}`.includes(word) : one.provider === provider,
      )
      if (found.length === 0) return desk.say(`No model on the list has "${neutral(word || provider)}" in its name.`)
      desk.say(modelTable(found, desk.width(), desk.style).join('\n'))
    },
    complete: async ({ talk }) => [...new Set((await listed(talk)).map((one) => one.provider))],
  },
  model: {
    takes: '[PROVIDER/MODEL]',
    about: 'go on with another model',
    async run(model, { talk, say }) {
      if (!model) return say(neutral(talk.settings.model))
      await checkModel(model, { offline: talk.offline, env: process.env, rows: talk.rows })
      talk.settings.model = model
      delete talk.settings.protocol
      const { store, owner } = talk.house
      const { settings } = await talk.conversation.info()
      await store.updateConversation(owner, talk.conversation.id, { settings: { ...settings, model } })
      say(`Going on with ${neutral(model)}.`)
    },
    complete: async ({ talk }) => (await listed(talk)).map(({ provider, model }) => `${provider}/${model}`),
  },
  tools: {
    takes: '[on|off NAME]',
    about: 'the tools that the model is offered; switch one on or off',
    async run(rest, { talk, say, style }) {
      const offered = new Set(talk.settings.tools)
      const [way, name] = rest.split(/\s+/)
      if (way) {
        if ((way !== 'on' && way !== 'off') || !name) throw badInput('Write /tools on NAME, or /tools off NAME.')
        const tool = toolNamed(name, talk.tools)
        if (way === 'on') offered.add(tool)
        else offered.delete(tool)
        talk.settings.tools = talk.tools.filter((one) => offered.has(one))
      }
      const lines = talk.tools.map((tool) => {
        const on = offered.has(tool)
        const line = `${on ? 'on ' : 'off'}  ${neutral(tool.name.padEnd(16))}  ${neutral(tool.description ?? '')}`
        return on ? line : style.dim(line)
      })
      say(lines.join('\n') || 'There are no tools.')
    },
    complete: async ({ talk }) => talk.tools.flatMap(({ name }) => [`on ${name}`, `off ${name}`]),
  },
}

async function listed({ rows }: Talk): Promise<ListedModel[]> {
  const [{ listModels }, { catalogue }] = await Promise.all([
    import('../../providers/list-models.ts'),
    import('../../providers/catalogue.ts'),
  ])
  return listModels(rows, catalogue)
}
