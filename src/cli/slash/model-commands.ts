// Who answers, and with which tools.

import { badInput } from '../../core/error.ts'
import type { ProviderRow } from '../../providers/provider.ts'
import type { ListedModel } from '../model-list.ts'
import { neutral } from '../terminal.ts'
import { toolNamed, toolsFor } from '../talk.ts'
import { builtInTools } from '../tools.ts'
import { checkModel } from '../who-answers.ts'
import type { SlashCommands } from './desk.ts'

export const modelCommands: SlashCommands = {
  models: {
    takes: '[WORD]',
    about: 'the models of this provider, or all whose name has the word',
    async run(word, desk) {
      const { modelTable } = await import('../model-list.ts')
      const all = await listed(desk.talk.rows)
      const [provider = ''] = desk.talk.settings.model.split('/', 1)
      const found = all.filter((one) =>
        word ? `${one.provider}/${one.model}`.includes(word) : one.provider === provider,
      )
      if (found.length === 0) return desk.say(`No model on the list has "${neutral(word || provider)}" in its name.`)
      desk.say(modelTable(found, desk.width(), desk.style).join('\n'))
    },
    complete: async ({ talk }) => [...new Set((await listed(talk.rows)).map((one) => one.provider))],
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
    complete: async ({ talk }) => (await listed(talk.rows)).map(({ provider, model }) => `${provider}/${model}`),
  },
  tools: {
    takes: '[on|off NAME]',
    about: 'the tools that the model is offered; switch one on or off',
    async run(rest, { talk, say, style }) {
      const offered = talk.settings.tools ?? []
      const [way, name] = rest.split(/\s+/)
      if (way) {
        if ((way !== 'on' && way !== 'off') || !name) throw badInput('Write /tools on NAME, or /tools off NAME.')
        const others = offered.filter((tool) => tool.name !== name)
        const tool =
          offered.find((one) => one.name === name) ?? toolNamed(name, toolsFor({}, talk.house, talk.conversation.id))
        talk.settings.tools = way === 'on' ? [...others, tool] : others
      }
      const all = new Map(
        [...builtInTools, ...offered, ...(talk.settings.tools ?? [])].map((tool) => [tool.name, tool]),
      )
      const lines = [...all.values()].map((tool) => {
        const on = talk.settings.tools?.some((one) => one.name === tool.name)
        const line = `${on ? 'on ' : 'off'}  ${neutral(tool.name.padEnd(16))}  ${neutral(tool.description ?? '')}`
        return on ? line : style.dim(line)
      })
      say(lines.join('\n') || 'There are no tools.')
    },
    complete: async () => builtInTools.flatMap(({ name }) => [`on ${name}`, `off ${name}`]),
  },
}

async function listed(given: readonly ProviderRow[] | undefined): Promise<ListedModel[]> {
  const [{ catalogued }, { rows }, { catalogue }] = await Promise.all([
    import('../model-list.ts'),
    import('../../providers/rows.ts'),
    import('../../providers/catalogue.ts'),
  ])
  return catalogued(given ?? rows, catalogue)
}
