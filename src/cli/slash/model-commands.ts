// Commands about the model and its tools.

import { badInput } from '../../core/error.ts'
import type { ListedModel } from '../../providers/find-model.ts'
import type { Tool } from '../../core/tool.ts'
import { listGrants, revokeGrant, withGrants, type Grant } from '../../run/tools/grants.ts'
import { neutral, type Style } from '../terminal.ts'
import { type ChatSession, conversationOrigin } from '../chat-session.ts'
import { toolNamed } from '../session-settings.ts'
import { checkModel } from '../choose-model.ts'
import type { SlashCommands, SlashContext } from './context.ts'
import { wrapText } from '../wrap.ts'

export const modelCommands: SlashCommands = {
  models: {
    takes: '[NAME|WORD]',
    about: 'switch to this model; or list the models of a provider, or all that match a word',
    async run(word, context) {
      const { modelTable } = await import('../model-list.ts')
      const all = await listed(context.session)
      const isName = all.some(
        (candidate) => `${candidate.provider}/${candidate.model}` === word || candidate.model === word,
      )
      if (isName || Object.hasOwn(context.session.config?.aliases ?? {}, word)) return switchModel(word, context)
      const [provider = ''] = context.session.settings.model.split('/', 1)
      const matches = all.filter((candidate) =>
        word ? `${candidate.provider}/${candidate.model}`.includes(word) : candidate.provider === provider,
      )
      if (matches.length === 0)
        return context.say(`No model on the list has "${neutral(word || provider)}" in its name.`)
      context.say(modelTable(matches, context.width(), context.style).join('\n'))
    },
    complete: async ({ session }) => [...new Set((await listed(session)).map((entry) => entry.provider))],
  },
  model: {
    takes: '[NAME]',
    about: 'switch to another model; without a name, show the current one, favourites and recent ones',
    async run(typed, context) {
      if (typed) return switchModel(typed, context)
      const { session, say, style } = context
      const { favouriteModels, recentModels } = await import('../../run/favourites.ts')
      const { store, owner } = session.local
      const [favourites, recent] = [await favouriteModels(store, owner), await recentModels(store, owner)]
      const aliases = Object.entries(session.config?.aliases ?? {}).map(([alias, model]) => `${alias} (${model})`)
      const lists: [string, readonly string[]][] = [
        ['favourites', favourites],
        ['used last', recent],
        ['aliases', aliases],
      ]
      const lines = lists.flatMap(([name, models]) =>
        models.length > 0 ? [style.dim(`${name.padEnd(10)}  ${neutral(models.join(', '))}`)] : [],
      )
      say([neutral(session.settings.model), ...lines].join('\n'))
    },
    complete: async ({ session }) => [
      ...Object.keys(session.config?.aliases ?? {}),
      ...(await listed(session)).map(({ provider, model }) => `${provider}/${model}`),
    ],
  },
  tools: {
    takes: '[on|off|ask NAME]',
    about: 'list the tools offered to the model; switch one on or off, or make one ask for approval again',
    async run(rest, { session, say, style, width }) {
      const [way, name] = rest.split(/\s+/)
      if (way) {
        if (!['on', 'off', 'ask'].includes(way) || !name)
          throw badInput('Use /tools on NAME, /tools off NAME or /tools ask NAME.')
        if (way === 'ask') await revokeGrants(session, name)
        else await (way === 'on' ? switchOn(session, name) : switchOff(session, name))
      }
      say((await toolLines(session, style, width())).join('\n') || 'No tools are available.')
    },
    complete: async ({ session }) => {
      const others = (await session.toolbox?.get())?.tools().map(({ tool }) => tool.name) ?? []
      const names = [...new Set([...session.tools.map((tool) => tool.name), ...others])]
      return names.flatMap((name) => [`on ${name}`, `off ${name}`, `ask ${name}`])
    },
  },
}

async function switchModel(typed: string, { session, say, ask }: SlashContext): Promise<void> {
  const model = await checkModel(typed, session)
  const { store, owner } = session.local
  const info = await session.conversation.info()
  const setup = { ...session, settings: { ...session.settings, model } }
  // As at the start: the history may come from another folder than the one that chose this model's host.
  const origin = await conversationOrigin(setup, info, undefined, async (question) =>
    /^y(es)?$/i.test((await ask(question))?.trim() ?? ''),
  )
  session.settings.model = model
  delete session.settings.protocol
  const settings = { ...info.settings, model, origin }
  await store.updateConversation(owner, session.conversation.id, { settings })
  say(`Continuing with ${neutral(model)}.`)
}

async function switchOn(session: ChatSession, name: string): Promise<void> {
  const loaded = session.tools.filter((tool) => tool.name === name)
  const tools = loaded.length > 0 ? loaded : await fromToolbox(session, name)
  const offered = session.settings.tools ?? []
  session.settings.tools = [...offered, ...tools.filter((tool) => !offered.some((offer) => offer.name === tool.name))]
}

async function switchOff(session: ChatSession, name: string): Promise<void> {
  const tool = toolNamed(name, session.tools)
  session.settings.tools = (session.settings.tools ?? []).filter((candidate) => candidate.name !== tool.name)
}

/** Tools that the conversation does not have yet, or all of an MCP server. */
async function fromToolbox(session: ChatSession, name: string): Promise<Tool[]> {
  const toolbox = await session.toolbox?.get()
  if (!toolbox) return [toolNamed(name, session.tools)]
  toolbox.check({ tools: [name] })
  const { offered } = await toolbox.choose({ tools: [name] })
  if (offered.length === 0) throw badInput(`${name} is not available now.`)
  const { store, owner } = session.local
  const tools = offered.map(({ tool, source }) =>
    withGrants(tool, { store, owner, conversationId: session.conversation.id, source }),
  )
  session.tools = [...session.tools, ...tools]
  session.sources = new Map([...session.sources, ...offered.map(({ tool, source }) => [tool.name, source] as const)])
  return tools
}

async function revokeGrants(session: ChatSession, name: string): Promise<void> {
  const { store, owner } = session.local
  const grants = (await grantsHere(session)).filter(({ tool }) => tool === name)
  if (grants.length === 0) throw badInput(`${name} has no lasting permission, so there is nothing to revoke.`)
  for (const { id } of grants) await revokeGrant(store, owner, id)
}

/** The permissions that apply in this conversation. */
async function grantsHere(session: ChatSession): Promise<Grant[]> {
  const grants = await listGrants(session.local.store, session.local.owner)
  return grants.filter(
    ({ conversationId }) => conversationId === undefined || conversationId === session.conversation.id,
  )
}

async function toolLines(session: ChatSession, style: Style, width: number): Promise<string[]> {
  const offered = new Set(session.settings.tools?.map(({ name }) => name))
  const others = (await session.toolbox?.get())?.tools().map(({ tool }) => tool) ?? []
  const all = new Map([...others, ...session.tools].map((tool) => [tool.name, tool]))
  const grants = await grantsHere(session)
  return [...all.values()].map((tool) => {
    const grant = grants.find(
      (candidate) => candidate.tool === tool.name && candidate.source === session.sources.get(tool.name),
    )
    const allowed = grant ? ` (allowed ${grant.conversationId === undefined ? 'always' : 'in this conversation'})` : ''
    const on = offered.has(tool.name)
    const about = `${neutral(tool.description ?? '')}${allowed}`
    const line = wrapText(about, width, `${on ? 'on ' : 'off'}  ${neutral(tool.name.padEnd(16))}  `)
    return on ? line : style.dim(line)
  })
}

async function listed({ rows }: ChatSession): Promise<ListedModel[]> {
  const [{ listModels }, { catalogue }] = await Promise.all([
    import('../../providers/find-model.ts'),
    import('../../providers/catalogue.ts'),
  ])
  return listModels(rows, catalogue)
}
