// `synapse run`: a program that speaks the API of some provider, on any model: through its own server on this machine,
// with a key that is valid for this run only.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:os'
import { badInput } from '../../core/error.ts'
import { type Exchange, sideCall } from '../../core/log.ts'
import { rowsFor } from '../../config/stored-providers.ts'
import type { Store } from '../../store/store.ts'
import { chooseModel } from '../choose-model.ts'
import { setUpClient, type RunServer } from '../client-environment.ts'
import { type Command, exitCode, parse, version } from '../command.ts'
import { costOf, exchangesLine } from '../cost-line.ts'
import { dollars } from '../format-number.ts'
import { type LocalStore, withLocalStore, storeOptions } from '../local-store.ts'
import { printError } from '../print.ts'
import { readPolicy } from '../run-options.ts'
import { neutral } from '../terminal.ts'
import { presetNames } from '../../settings/policy.ts'
import { configOptions, projectConfig } from '../project-config.ts'

export const run: Command = {
  usage: `synapse run [-m PROVIDER/MODEL] [--policy NAME] [--offline] [--db FILE] [--config FILE | --no-config] -- COMMAND
            [ARGUMENT]...

Runs a program that speaks the API of OpenAI, Anthropic or Gemini, with any model. It starts a server on loopback for
it, with a key for this run only. Known programs are claude, codex, opencode, gemini, qwen and pi; any other gets the
variables that the official SDKs read, such as OPENAI_BASE_URL and ANTHROPIC_BASE_URL. It does not get the API keys of
providers. Its conversations are stored like any others. At the end it prints the cost and how to open the conversation.
The exit code is that of the program, as from a shell: 127 if it was not found, and more than 128 after a signal.

  -m, --model M    the model, unless the program asks for a provider/model (SYNAPSE_MODEL: only for unknown names)
  --policy NAME    shorten a long history: ${presetNames.join(', ')}, or settings as JSON; by default the program does
                   that itself
  --offline        use the emulator, even if there are API keys
  --db FILE        database file or postgres:// URL (SYNAPSE_DB)
  --config FILE    use this synapse.yaml for providers, model and policy
  --no-config      ignore every synapse.yaml

  synapse run -m google/gemini-3-flash-preview -- claude
  synapse run -m anthropic/claude-opus-5 -- codex exec "Explain this folder."`,

  async run(argv) {
    const { own, command } = splitCommand(argv)
    const { values } = parse(own, 0, {
      ...storeOptions,
      ...configOptions,
      offline: { type: 'boolean' },
      model: { type: 'string', short: 'm' },
      policy: { type: 'string' },
    })
    const policy = values.policy === undefined ? undefined : readPolicy(values.policy)
    const config = await projectConfig(values)
    return withLocalStore(values, async (local) => {
      const rows = await rowsFor(local.store, config)
      const choice = await chooseModel(values, { config, rows })
      const { model, offline, whyOffline } = choice
      const [{ startServer }, { createKey, deleteKey }, { endpoints }, { toolboxes }] = await Promise.all([
        import('../../server/serve.ts'),
        import('../../server/keys.ts'),
        import('../endpoints.ts'),
        import('../toolbox.ts'),
      ])
      const endpoint = await endpoints({ offline, rows, aliases: config?.aliases })
      await endpoint(model, undefined)
      const { store, exchanges } = observeStore(local.store)
      const { key, about } = await createKey(store, { name: 'synapse run', owner: local.owner, expiresAt: inAWeek() })
      const server = await startServer({
        store,
        endpoint,
        rows,
        version: version(),
        defaultModel: model,
        doorModel: { model, always: values.model !== undefined, ...(policy !== undefined && { policy }) },
        ...(config?.aliases && { aliases: config.aliases }),
        ...(config?.routes && { routes: config.routes }),
        ...(config?.serverTools && {
          serverTools: config.serverTools,
          toolbox: (await toolboxes({}, { config, rows, offline: () => offline, forOthers: true })).open,
        }),
        ...(config?.policy !== undefined && { defaultPolicy: config.policy }),
        env: process.env,
        offline,
        requireKeys: true,
      })
      let ended: Ended
      try {
        if (whyOffline) printError(`${whyOffline}\n`)
        const keyVariables = rows.flatMap((row) => row.keyVariables)
        ended = await runProgram(command, { url: server.url, key, model, keyVariables })
      } finally {
        await server.stop()
        await deleteKey(local.store, key, about)
      }
      if (ended.started) printError(await summaryOf(exchanges, local, values.db))
      return ended.code
    })
  },
}

function splitCommand(argv: string[]): { own: string[]; command: [string, ...string[]] } {
  const at = argv.indexOf('--')
  const [program, ...args] = at < 0 ? [] : argv.slice(at + 1)
  if (program === undefined) {
    throw badInput('Name the program after "--", such as: synapse run -m anthropic/claude-opus-5 -- codex')
  }
  return { own: argv.slice(0, at), command: [program, ...args] }
}

/** A program that runs longer is restarted by then. */
function inAWeek(): string {
  return new Date(Date.now() + 7 * 24 * 3_600_000).toISOString()
}

/** The store, and the requests that were made through it. */
function observeStore(store: Store): { store: Store; exchanges: Exchange[] } {
  const exchanges: Exchange[] = []
  return {
    exchanges,
    store: {
      ...store,
      async finishExchange(...parameters) {
        const finished = await store.finishExchange(...parameters)
        exchanges.push(finished.exchange)
        return finished
      },
    },
  }
}

interface Ended {
  /** As from a shell. */
  code: number
  started: boolean
}

async function runProgram(command: [string, ...string[]], server: RunServer): Promise<Ended> {
  const { args, env, clean } = setUpClient(command, server)
  // Ctrl-C is for the program: it may use it for something other than exiting.
  const ignore = (): void => {}
  process.on('SIGINT', ignore)
  const forwarded = ['SIGTERM', 'SIGHUP'] as const
  let forward = ignore as (signal: NodeJS.Signals) => void
  const pass = (signal: NodeJS.Signals): void => forward(signal)
  for (const signal of forwarded) process.on(signal, pass)
  try {
    const child = spawn(command[0], args, { stdio: 'inherit', env: { ...process.env, ...env } })
    forward = (signal) => void child.kill(signal)
    const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null]
    return { code: code ?? 128 + (signal === null ? 0 : constants.signals[signal]), started: true }
  } catch (error) {
    printError(`synapse: ${neutral(command[0])} cannot be started: ${whyNotStarted(error)}.\n`)
    return { code: codeOf(error) === 'ENOENT' ? exitCode.notFound : exitCode.notStarted, started: false }
  } finally {
    process.off('SIGINT', ignore)
    for (const signal of forwarded) process.off(signal, pass)
    clean()
  }
}

function whyNotStarted(error: unknown): string {
  const code = codeOf(error)
  if (code === 'ENOENT') return 'it was not found; check its name, and that it is installed and in PATH'
  // The system also reports this for a missing program if a folder of PATH cannot be entered.
  if (code === 'EACCES') return 'permission denied; check that it is executable and that PATH has no forbidden folder'
  return String(error)
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}

async function summaryOf(exchanges: readonly Exchange[], local: LocalStore, db: string | undefined): Promise<string> {
  if (exchanges.length === 0) return 'No request has reached a model.\n'
  const line = exchangesLine(exchanges) || unansweredLine(exchanges)
  // The most used one comes first.
  const ids = [...Map.groupBy(exchanges, ({ conversationId }) => conversationId)]
    .toSorted(([, a], [, b]) => b.length - a.length)
    .map(([id]) => id)
  const conversations = await Promise.all(ids.map((id) => local.store.conversation(local.owner, id)))
  const listed = conversations.filter((one) => one !== undefined && !one.labels.includes(sideCall))
  const first = listed[0] ?? conversations[0]
  if (first === undefined) return `${line}\n`
  const more = listed.length > 1 ? ` (${listed.length - 1} more: synapse log${dbFlag(db)})` : ''
  return `${line}\nsynapse log ${first.id}${dbFlag(db)}${more}\n`
}

/** None of them was answered in full. */
function unansweredLine(exchanges: readonly Exchange[]): string {
  const isInterrupted = exchanges.some(({ outcome }) => outcome === 'cancelled')
  const one = isInterrupted ? 'The request was interrupted' : 'The request has failed'
  const all = isInterrupted ? 'No request was answered in full' : `All ${exchanges.length} requests have failed`
  const cost = costOf(exchanges)
  return `${exchanges.length === 1 ? one : all}${cost > 0 ? `, about ${dollars(cost)}` : ''}.`
}

/** To open the same store again. A password is not repeated. */
function dbFlag(db: string | undefined): string {
  if (db === undefined) return ''
  if (/^\w+:\/\/[^/@]*:[^/]*@/.test(db)) return ' --db URL'
  return ` --db ${/^[\w./:@%+=-]+$/.test(db) ? db : `'${db.replaceAll("'", String.raw`'\''`)}'`}`
}
