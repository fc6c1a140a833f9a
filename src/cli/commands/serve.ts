// `synapse serve`: the HTTP API and the chat page, in one process with the embedded store.

import { spawn } from 'node:child_process'
import { resolve } from 'node:path'
import { badInput, SynapseError } from '../../core/error.ts'
import type { RunningServer, ServerOptions } from '../../server/serve.ts'
import { rowsFor } from '../../config/stored-providers.ts'
import { usualModel } from '../choose-model.ts'
import { exitCode, parse, type Command } from '../command.ts'
import { configOptions, projectConfig } from '../project-config.ts'
import { openLocalStore, storeAddress, storeOptions } from '../local-store.ts'
import { isPostgres } from '../../store/open.ts'
import { agentEnvironment } from '../../sessions/environment.ts'
import { print, printError } from '../print.ts'
import { version } from '../version.ts'

const usualPort = 4747

export const serve: Command = {
  usage: `synapse serve [--port N] [--host H] [--name HOST]... [--require-keys] [--offline] [--model PROVIDER/MODEL]
              [--folder DIR]... [--db FILE] [--config FILE] [--no-open] [--verbose]

Serves the chat page and the HTTP API at http://127.0.0.1:${usualPort}, for this machine only. Clients of OpenAI,
Anthropic and Gemini can use it as their base URL (docs/front-doors.md). Without an API key in the environment the
built-in emulator answers. Ctrl-C stops the server: active runs get 20 seconds to finish, and otherwise
continue at the next start.

  --port N         port to listen on; 0 picks a free one
  --host H         address to listen on; other than loopback it needs keys ("synapse keys create")
  --name HOST      host name that clients use, for example through a proxy; needs keys
  --require-keys   require a key on this machine as well
  --offline        use the emulator, even if there are API keys
  --model MODEL    default model for new conversations, and for unknown model names of clients (SYNAPSE_MODEL)
  --db FILE        database file or postgres:// URL (SYNAPSE_DB)
  --config FILE    use this synapse.yaml for providers, model and policy
  --folder DIR     the folder of the file and command tools; the current one by default, none for a server with keys.
                   Given again, a conversation can choose among them, or a folder inside one
  --no-open        do not open the page in a browser
  --verbose        log every request to stderr as JSON, without message content`,

  async run(argv) {
    const { values } = parse(argv, 0, {
      ...storeOptions,
      ...configOptions,
      port: { type: 'string' },
      host: { type: 'string' },
      name: { type: 'string', multiple: true },
      'require-keys': { type: 'boolean' },
      offline: { type: 'boolean' },
      model: { type: 'string', short: 'm' },
      'no-open': { type: 'boolean' },
      verbose: { type: 'boolean' },
      folder: { type: 'string', multiple: true },
    })
    const port = portOf(values.port)
    const config = await projectConfig(values)
    const local = await openLocalStore(values)
    try {
      const rows = await rowsFor(local.store, config)
      const [{ isLoopback, startServer }, { writeLog }, { reach }, { toolboxes }] = await Promise.all([
        import('../../server/serve.ts'),
        import('../../server/log.ts'),
        import('../reach.ts'),
        import('../toolbox.ts'),
      ])
      const reached = await reach(values, config, rows)
      const forOthers =
        values['require-keys'] === true || values.name !== undefined || !isLoopback(values.host ?? '127.0.0.1')
      const tools = await toolboxes(values, { config, rows, offline: reached.isOffline, forOthers })
      const { defaultModel, whyOffline } = reached
      const isNamed = (values.model ?? usualModel(process.env) ?? config?.model) !== undefined
      const start = (onPort: number) =>
        startServer({
          ...reached,
          store: local.store,
          address: storeAddress(values),
          rows,
          ...(config?.aliases && { aliases: config.aliases }),
          ...(config?.routes && { routes: config.routes }),
          ...(config?.serverTools && { serverTools: config.serverTools }),
          version: version(),
          ...(isNamed && { doorModel: { model: defaultModel } }),
          ...(config?.policy !== undefined && { defaultPolicy: config.policy }),
          sessions: { environment: agentEnvironment(), carry: carryWords(values) },
          toolbox: tools.open,
          ...(tools.folders[0] !== undefined && { folder: tools.folders[0], folders: tools.folders }),
          env: process.env,
          ...(values.host !== undefined && { host: values.host }),
          ...(values.name && { names: values.name }),
          requireKeys: values['require-keys'] === true,
          port: onPort,
          log: writeLog(process.stderr, ({ event }) => values.verbose === true || event !== 'request'),
        } satisfies ServerOptions)
      const server = await startOn(port, start)
      print(`${server.url}\n`)
      if (whyOffline) printError(`${whyOffline}\n`)
      if (process.stdout.isTTY && !values['no-open']) openBrowser(server.url)
      await ended()
      await server.stop()
      return exitCode.ok
    } finally {
      await local.close()
    }
  },
}

/** The address of a database may contain a password: the page does not show it. */
function carryWords(values: { db?: string | undefined }): string[] {
  const named = values.db === undefined ? undefined : storeAddress(values)
  return ['synapse', 'carry', ...(named === undefined || isPostgres(named) ? [] : ['--db', resolve(named)])]
}

function portOf(given: string | undefined): number | undefined {
  if (given === undefined) return undefined
  const port = Number(given)
  if (Number.isInteger(port) && port >= 0 && port <= 65_535 && given.trim() !== '') return port
  throw badInput(`--port takes a number from 0 to 65535, not "${given}".`)
}

/** If no port was requested and the default one is in use, any other will do. */
async function startOn(
  port: number | undefined,
  start: (port: number) => Promise<RunningServer>,
): Promise<RunningServer> {
  if (port !== undefined) return start(port)
  try {
    return await start(usualPort)
  } catch (error) {
    if (error instanceof SynapseError && error.failure.code === 'port-taken') return start(0)
    throw error
  }
}

/** A second signal exits at once. */
function ended(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.once(signal, () => {
        process.once(signal, () => process.exit(exitCode.interrupted))
        resolve()
      })
    }
  })
}

function openBrowser(url: string): void {
  const command = process.platform === 'darwin' ? 'open' : process.platform === 'win32' ? 'explorer' : 'xdg-open'
  const opened = spawn(command, [url], { stdio: 'ignore', detached: true })
  // If there is no browser, the address was printed.
  opened.on('error', () => {})
  opened.unref()
}
