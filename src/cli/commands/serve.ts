// `synapse serve`: the HTTP API and the chat page, in one process with the embedded store.

import { spawn } from 'node:child_process'
import { resolve } from 'node:path'
import type { Config } from '../../config/load.ts'
import { readStoredKeys, removeStoredKey, storeKey } from '../../config/stored-keys.ts'
import { rowsFor } from '../../config/stored-providers.ts'
import { badInput, SynapseError } from '../../core/error.ts'
import type { ProviderRow } from '../../providers/provider.ts'
import type { Runtime } from '../../run/settings.ts'
import type { Keyring, Reach } from '../../server/keyring.ts'
import type { RunningServer, ServerOptions } from '../../server/serve.ts'
import { agentEnvironment } from '../../sessions/environment.ts'
import { isPostgres } from '../../store/open.ts'
import { chooseModel, usualModel } from '../choose-model.ts'
import { type Command, exitCode, parse, version } from '../command.ts'
import { withLocalStore, storeAddress, storeOptions } from '../local-store.ts'
import { print, printError } from '../print.ts'
import { configOptions, projectConfig } from '../project-config.ts'
import { recentEndpoints } from '../recent-endpoints.ts'

const usualPort = 4747

export const serve: Command = {
  usage: `synapse serve [--port N] [--host H] [--name HOST]... [--require-keys] [--offline] [--model PROVIDER/MODEL]
              [--folder DIR]... [--db FILE] [--config FILE | --no-config] [--no-open] [--verbose]

Serves the chat page and the HTTP API at http://127.0.0.1:${usualPort}, for this machine only. Clients of OpenAI,
Anthropic, Gemini and others can use it as their base URL (docs/front-doors.md). Without an API key the built-in emulator
answers. Ctrl-C stops the server: active runs get 20 seconds to finish, and otherwise continue at the next start.

  --port N         port to listen on; 0 picks a free one
  --host H         address to listen on; other than loopback it needs keys ("synapse keys create")
  --name HOST      host name that clients use, for example through a proxy; needs keys
  --require-keys   require a key on this machine as well
  --offline        use the emulator, even if there are API keys
  --model MODEL    default model for new conversations, and for unknown model names of clients (SYNAPSE_MODEL)
  --db FILE        database file or postgres:// URL (SYNAPSE_DB)
  --config FILE    use this synapse.yaml for providers, model and policy
  --no-config      ignore every synapse.yaml
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
    return withLocalStore(values, async (local) => {
      const rows = await rowsFor(local.store, config)
      const [{ isLoopback, startServer }, { writeLog }, { toolboxes }] = await Promise.all([
        import('../../server/serve.ts'),
        import('../../server/log.ts'),
        import('../toolbox.ts'),
      ])
      const isNamed = (values.model ?? usualModel(process.env) ?? config?.model) !== undefined
      const reached = await reach(values, config, { rows, isNamed })
      const forOthers =
        values['require-keys'] === true || values.name !== undefined || !isLoopback(values.host ?? '127.0.0.1')
      const tools = await toolboxes(values, { config, rows, offline: reached.isOffline, forOthers })
      const { defaultModel, whyOffline } = reached
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
      if (port === undefined && !server.url.endsWith(`:${usualPort}`)) {
        printError(`Port ${usualPort} is already in use, so the server uses another one; --port sets it.\n`)
      }
      if (whyOffline) printError(`${whyOffline}\n`)
      if (!isFullName(defaultModel)) {
        printError(`Each request has to name its model, such as ${defaultModel}/MODEL; --model sets a default.\n`)
      }
      if (process.stdout.isTTY) {
        printError('The chat page and the HTTP API are at this address. Ctrl-C stops the server.\n')
        if (!values['no-open']) openBrowser(server.url)
      }
      await untilEnd()
      await server.stop()
      return exitCode.ok
    })
  },
}

/** The address of a database may contain a password: the page does not show it. */
function carryWords(values: { db?: string | undefined }): string[] {
  const named = values.db === undefined ? undefined : storeAddress(values)
  return ['synapse', 'carry', ...(named === undefined || isPostgres(named) ? [] : ['--db', resolve(named)])]
}

function portOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const port = Number(text)
  if (Number.isInteger(port) && port >= 0 && port <= 65_535 && text.trim() !== '') return port
  throw badInput(`--port takes a number from 0 to 65535, not "${text}".`)
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
function untilEnd(): Promise<void> {
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

// The endpoints of the server. They may change while it runs: the first stored key turns the emulator off, unless it
// was requested.

interface Reached extends Reach {
  endpoint: Runtime['endpoint']
  keyring: Keyring
  /** Whether the emulator answers: for this model, or in general. */
  isOffline: (model?: string) => boolean
}

/** False: it is the name of a provider without a default model. */
function isFullName(model: string): boolean {
  return model.includes('/')
}

/** Throws one sentence if the requested model cannot be used. */
async function reach(
  values: { model?: string | undefined; offline?: boolean | undefined },
  config: Config | undefined,
  { rows, isNamed }: { rows: readonly ProviderRow[]; isNamed: boolean },
): Promise<Reached> {
  const first = await choose()
  let { endpoint } = first
  let { offline, whyOffline } = first.about
  // Without a default model, the server answers requests that name theirs.
  if (isNamed || isFullName(first.about.defaultModel)) await endpoint(first.about.defaultModel, undefined)
  return {
    ...first.about,
    endpoint: (model, protocol) => endpoint(model, protocol),
    isOffline: (model) => offline && !(whyOffline !== undefined && model !== undefined && isLocal(model)),
    keyring: {
      stored: () => Object.keys(readStoredKeys()),
      store: storeKey,
      remove: removeStoredKey,
      async reach() {
        const next = await choose()
        ;({ endpoint } = next)
        ;({ offline, whyOffline } = next.about)
        return next.about
      },
    },
  }

  async function choose(): Promise<{ about: Reach; endpoint: Runtime['endpoint'] }> {
    const { endpoints } = await import('../endpoints.ts')
    const { model, offline, whyOffline } = await chooseModel(values, { config, rows })
    const about = { defaultModel: model, offline, ...(whyOffline !== undefined && { whyOffline }) }
    const emulated = recentEndpoints(await endpoints({ offline, rows, aliases: config?.aliases }))
    if (whyOffline === undefined) return { about, endpoint: emulated }
    // The emulator answers only because there is no key: a model of a local server is used for real.
    const real = recentEndpoints(await endpoints({ offline: false, rows, aliases: config?.aliases }))
    return {
      about,
      endpoint: (name, protocol) => (isLocal(name) ? real(name, protocol) : emulated(name, protocol)),
    }
  }

  function isLocal(model: string): boolean {
    const provider = model.slice(0, model.indexOf('/'))
    return rows.some(({ id, keyOptional }) => id === provider && keyOptional === true)
  }
}
