// `synapse run`: a program that speaks the API of some provider, on any model: through its own server on this machine,
// with a key that is valid for this run only.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { badInput } from '../../core/error.ts'
import type { Exchange } from '../../core/log.ts'
import { rowsFor } from '../../config/stored-providers.ts'
import type { Store } from '../../store/store.ts'
import { chooseModel } from '../choose-model.ts'
import { setUpClient } from '../client-environment.ts'
import { type Command, exitCode, parse, version } from '../command.ts'
import { exchangesLine } from '../cost-line.ts'
import { withLocalStore, storeOptions } from '../local-store.ts'
import { printError } from '../print.ts'
import { readPolicy } from '../run-options.ts'
import { presetNames } from '../../settings/policy.ts'
import { configOptions, projectConfig } from '../project-config.ts'

export const run: Command = {
  usage: `synapse run [-m PROVIDER/MODEL] [--policy NAME] [--offline] [--db FILE] [--config FILE] -- COMMAND [ARGUMENT]...

Runs a program that speaks the API of OpenAI, Anthropic or Gemini, with any model. It starts a server on loopback for
it, with a key for this run only. Known programs are claude, codex, opencode, gemini, qwen and pi; any other gets the
variables that the official SDKs read, such as OPENAI_BASE_URL and ANTHROPIC_BASE_URL. Its conversations are stored
like any others. At the end it prints the cost and how to open the conversation.

  -m, --model M    the model, whatever the program asks for (SYNAPSE_MODEL: only for model names that are unknown)
  --policy NAME    shorten a long history: ${presetNames.join(', ')}, or settings as JSON; by default the program does
                   that itself
  --offline        use the emulator, even if there are API keys
  --db FILE        database file or postgres:// URL (SYNAPSE_DB)
  --config FILE    use this synapse.yaml for providers, model and policy

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
      const [{ startServer }, { createKey, revokeKey }, { endpoints }, { toolboxes }] = await Promise.all([
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
      try {
        if (whyOffline) printError(`${whyOffline}\n`)
        return await runProgram(command, { url: server.url, key, model })
      } finally {
        await server.stop()
        await revokeKey(local.store, about.id)
        printError(summaryOf(exchanges))
      }
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

async function runProgram(
  command: [string, ...string[]],
  server: { url: string; key: string; model: string },
): Promise<number> {
  const { args, env, clean } = setUpClient(command, server)
  // Ctrl-C is for the program: it may use it for something other than exiting.
  const ignore = (): void => {}
  process.on('SIGINT', ignore)
  try {
    const child = spawn(command[0], args, { stdio: 'inherit', env: { ...process.env, ...env } })
    const stop = (): void => void child.kill('SIGTERM')
    process.once('SIGTERM', stop)
    const [code] = (await once(child, 'exit').catch((error: unknown) => {
      throw badInput(`${command[0]} cannot be started: ${whyNotStarted(error)}.`)
    })) as [number | null]
    process.off('SIGTERM', stop)
    return code ?? exitCode.interrupted
  } finally {
    process.off('SIGINT', ignore)
    clean()
  }
}

function whyNotStarted(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'ENOENT') return 'it was not found'
  // The system also reports this for a missing program if a folder of PATH cannot be entered.
  if (code === 'EACCES') return 'permission denied; check that it is executable and that PATH has no forbidden folder'
  return String(error)
}

function summaryOf(exchanges: readonly Exchange[]): string {
  const line = exchangesLine(exchanges)
  if (line === '') return ''
  // The most used one comes first.
  const ids = Map.groupBy(exchanges, ({ conversationId }) => conversationId)
  const [first, ...others] = [...ids].toSorted(([, a], [, b]) => b.length - a.length).map(([id]) => id)
  const more = others.length > 0 ? ` (${others.length} more: synapse log)` : ''
  return `${line}\nsynapse log ${first}${more}\n`
}
