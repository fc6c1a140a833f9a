// `synapse inspect`: the next request of a conversation, and why it looks that way.

import { readAgent } from '../../agents/read.ts'
import { badInput } from '../../core/error.ts'
import type { Conversation } from '../../core/log.ts'
import type { Tool } from '../../core/tool.ts'
import type { ProviderRow } from '../../providers/provider.ts'
import type { Runtime } from '../../run/settings.ts'
import { readTranscript } from '../../transcripts/index.ts'
import { type Command, exitCode, parse } from '../command.ts'
import { lastRequests, type Preview } from '../inspect/preview.ts'
import { type LocalStore, withLocalStore } from '../local-store.ts'
import { placeNamed, placeOfBound } from '../open-agent.ts'
import { print, printJson } from '../print.ts'
import { sessionFlags, type SessionFlags } from '../session-flags.ts'
import { type AgentSetup, sessionSettings } from '../session-settings.ts'
import { neutral, styleFor, widthOf } from '../terminal.ts'
import { printNotice } from '../trusted.ts'

export const inspect: Command = {
  usage: `synapse inspect ID [--for PROVIDER/MODEL] [--agent NAME|FILE] [--policy NAME] [--exact] [--diff] [--body]
                   [--prompt] [--json] [--db FILE]

Shows the next request of a conversation, to its own model or to another one: each message with what happens to it and
why (sent, converted, folded, summarised, cut), tokens, price, the expected prompt cache hit, and the first byte that
differs from the last request to the same model. Nothing is sent or recorded. ID may be abbreviated, a row number of
"synapse log", or "last". No code is loaded: a conversation with an agent is shown with the settings in the agent's file
and the tools of the last request.

  --exact   also show the provider's own token count; needs a key (or --offline)
  --diff    show the difference between the last two requests
  --body    print the request body
  --prompt  print the prompt that a local server makes of it, through the model's chat template (llama.cpp)
  --json    print everything as one object`,

  async run(argv) {
    const { values, positionals } = parse(argv, 1, {
      db: sessionFlags.db,
      config: sessionFlags.config,
      'no-config': sessionFlags['no-config'],
      for: { type: 'string' },
      agent: sessionFlags.agent,
      option: sessionFlags.option,
      system: sessionFlags.system,
      policy: sessionFlags.policy,
      protocol: sessionFlags.protocol,
      tool: sessionFlags.tool,
      'no-tools': sessionFlags['no-tools'],
      exact: { type: 'boolean' },
      offline: sessionFlags.offline,
      diff: { type: 'boolean' },
      body: { type: 'boolean' },
      prompt: { type: 'boolean' },
      json: { type: 'boolean' },
    })
    const [id] = positionals
    if (id === undefined) throw badInput('Name the conversation: synapse inspect ID. "synapse log" lists the ids.')
    if (values.diff) return diff(values, id, values.json === true)
    return withLocalStore(values, async (local) => {
      const stored = await local.find(id)
      const { store, owner } = local
      const agent = await unloadedAgent(stored, values, local)
      const options = { ...values, model: values.for, offline: true }
      const { settings, rows } = await sessionSettings(options, local, {
        id: stored.id,
        stored,
        agent,
        shown: await toolsLastOffered(local, stored.id),
      })
      const { preview } = await import('../inspect/preview.ts')
      const isAsked = values.exact === true || values.prompt === true
      const endpoint = isAsked ? await configuredEndpoints(rows, values.offline === true) : keylessEndpoints(rows)
      const looked = await preview({
        store,
        owner,
        endpoint,
        exact: values.exact === true,
        conversationId: stored.id,
        history: stored.head ? await store.history(owner, stored.head) : [],
        settings,
      })
      if (values.prompt) print(`${neutral(await promptOf(looked, endpoint))}\n`)
      else await printLooked(looked, values)
      return exitCode.ok
    })
  },
}

/** What the model itself reads. */
async function promptOf({ provider, protocol, model, body }: Preview, find: Runtime['endpoint']): Promise<string> {
  const { endpoint, transport } = await find(`${provider}/${model}`, protocol)
  const { renderedPrompt } = await import('../../runtime/local-model.ts')
  return renderedPrompt(endpoint, body, transport.fetch ?? fetch)
}

async function configuredEndpoints(rows: readonly ProviderRow[], offline: boolean): Promise<Runtime['endpoint']> {
  const { endpoints } = await import('../endpoints.ts')
  return endpoints({ offline, rows })
}

/** Nothing is sent, so no key is needed. */
function keylessEndpoints(rows: readonly ProviderRow[]): Runtime['endpoint'] {
  return async (model, protocol) => {
    const [{ resolve }, { findModel }] = await Promise.all([
      import('../../providers/resolve.ts'),
      import('../../providers/find-model.ts'),
    ])
    const request = {
      ...(await findModel(model, { rows, env: process.env })),
      ...(protocol !== undefined && { protocol }),
      rows,
    }
    return { endpoint: await resolve({ ...request, env: process.env, keyless: true }), transport: {} }
  }
}

async function printLooked(looked: Preview, { json, body }: { json?: boolean; body?: boolean }): Promise<void> {
  if (json) {
    const { history: _, ...rest } = looked
    printJson(rest, 2)
  } else if (body) {
    printJson(looked.body, 2)
  } else {
    const { inspectLines } = await import('../inspect/render.ts')
    const style = styleFor(process.stdout, process.env)
    print(`${inspectLines(looked, widthOf(process.stdout), style).join('\n')}\n`)
  }
}

async function diff(values: { db?: string | undefined }, id: string, json: boolean): Promise<number> {
  return withLocalStore(values, async (local) => {
    const { id: conversationId } = await local.find(id)
    const [now, before] = await lastRequests({ ...local, conversationId }, 2)
    if (!now || !before)
      throw badInput('This conversation has made fewer than two requests, so there is nothing to compare.')
    const { bodyDiff } = await import('../inspect/prefix-break.ts')
    const { prefixBreak } = await import('../inspect/prefix-break.ts')
    const lines = bodyDiff(before.body, now.body)
    const breaks = prefixBreak(before.body, now.body)
    if (json) {
      const about = { before: before.exchange.id, now: now.exchange.id, ...(breaks && { breaks }), lines }
      printJson(about, 2)
      return exitCode.ok
    }
    const { diffLines } = await import('../inspect/render.ts')
    const style = styleFor(process.stdout, process.env)
    const heads = [before, now].map(
      ({ exchange }, i) =>
        `${'-+'[i] ?? ''} ${exchange.startedAt} ${exchange.provider}/${exchange.model} (${exchange.protocol})`,
    )
    const screen = [
      ...heads.map((line) => style.bold(neutral(line))),
      ...diffLines(lines, widthOf(process.stdout), style),
    ]
    print(`${screen.join('\n')}\n`)
    return exitCode.ok
  })
}

// An agent as far as it can be known without loading its code: its settings from its file, and its tools from the last
// request of the conversation.

/** The named agent, or the one that the conversation is bound to; undefined: there is none to read. */
async function unloadedAgent(
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
    printNotice([place])
    return undefined
  }
  const agent = readAgent(place.file, place.config)
  const tools = agent.tools.length > 0 ? await toolsLastOffered(local, stored.id) : []
  if (agent.tools.length > 0 && tools.length === 0)
    printNotice([
      `The tools of ${agent.name} are not shown: no code is loaded here, and no earlier request lists them.`,
    ])
  return { file: place.file, config: place.config, settings: { ...agent.settings, tools } }
}

/** From the last request of the conversation; they cannot be run. */
async function toolsLastOffered({ store, owner }: LocalStore, conversationId: string): Promise<Tool[]> {
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
