// `synapse serve`: the HTTP API and the chat page, in one process with the embedded store.

import { spawn } from 'node:child_process'
import { badInput, SynapseError } from '../../core/error.ts'
import type { RunningServer, ServerOptions } from '../../server/serve.ts'
import { rowsFor } from '../../config/stored-providers.ts'
import { exitCode, parse, type Command } from '../command.ts'
import { configOptions, projectConfig } from '../project-config.ts'
import { openLocalStore, storeOptions } from '../local-store.ts'
import { print, printError } from '../print.ts'
import { builtInTools } from '../tools.ts'
import { version } from '../version.ts'
import { chooseModel } from '../choose-model.ts'

const usualPort = 4747

export const serve: Command = {
  usage: `synapse serve [--port N] [--host H] [--name HOST]... [--require-keys] [--offline] [--model PROVIDER/MODEL]
              [--db FILE] [--config FILE] [--no-open] [--verbose]

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
    })
    const port = portOf(values.port)
    const config = await projectConfig(values)
    const local = await openLocalStore(values)
    try {
      const rows = await rowsFor(local.store, config)
      const { model, offline, whyOffline } = await chooseModel({
        asked: values.model,
        kept: undefined,
        configured: config?.model,
        offline: values.offline === true,
        env: process.env,
        rows,
      })
      const [{ startServer }, { writeLog }, { endpoints }] = await Promise.all([
        import('../../server/serve.ts'),
        import('../../server/log.ts'),
        import('../endpoints.ts'),
      ])
      const endpoint = await endpoints({ offline, rows })
      const isNamed = (values.model ?? process.env['SYNAPSE_MODEL'] ?? config?.model) !== undefined
      await endpoint(model, undefined)
      const start = (onPort: number) =>
        startServer({
          store: local.store,
          endpoint,
          rows,
          version: version(),
          defaultModel: model,
          ...(isNamed && { doorModel: { model } }),
          ...(config?.policy !== undefined && { defaultPolicy: config.policy }),
          tools: builtInTools,
          env: process.env,
          offline,
          ...(whyOffline !== undefined && { whyOffline }),
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

function portOf(given: string | undefined): number | undefined {
  if (given === undefined) return undefined
  const port = Number(given)
  if (Number.isInteger(port) && port >= 0 && port <= 65_535 && given.trim() !== '') return port
  throw badInput(`--port takes a number from 0 to 65535, not "${given}".`)
}

/** Where no port was asked for and the usual one is taken, any other will do. */
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

/** A second signal does not wait for anything. */
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
  // Where there is no browser, the address was printed.
  opened.on('error', () => {})
  opened.unref()
}
