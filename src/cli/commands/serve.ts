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

Serves the chat page and the HTTP API, on this machine only: http://127.0.0.1:${usualPort}. Without a key of a provider in
the environment the built-in emulator answers. Ctrl-C ends it: runs that are under way get 20 seconds, and continue at the
next start if that is not enough.

  --port N         another port; 0 takes any that is free
  --host H         listen elsewhere; needs keys ("synapse keys create")
  --name HOST      a name that people reach it under, such as behind a proxy; needs keys too
  --require-keys   ask for a key on this machine as well
  --offline        let the emulator answer, whatever keys there are
  --model M        for conversations that name none (SYNAPSE_MODEL)
  --db FILE        where conversations are kept (SYNAPSE_DB)
  --config FILE    another synapse.yaml, for its providers, its model and its policy
  --no-open        do not open the page in a browser
  --verbose        a line of JSON per request on stderr, without what was said`,

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
      await endpoint(model, undefined)
      const start = (onPort: number) =>
        startServer({
          store: local.store,
          endpoint,
          rows,
          version: version(),
          defaultModel: model,
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
