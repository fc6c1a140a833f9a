// `synapse keys`: API keys of the server. A key is shown once, when it is created.

import { badInput } from '../../core/error.ts'
import { parseModelRef } from '../../providers/model-ref.ts'
import { presetNames } from '../../settings/policy.ts'
import type { NewKey } from '../../server/keys.ts'
import { type Command, exitCode, parse } from '../command.ts'
import { storeOptions, withLocalStore, type LocalStore } from '../local-store.ts'
import { print, printError, printJson } from '../print.ts'
import { neutral } from '../terminal.ts'

export const keys: Command = {
  usage: `synapse keys create [--name TEXT] [--owner NAME] [--read-only] [--model PATTERN]... [--budget DOLLARS]
                    [--rate N] [--expires DAYS] [--default-model PROVIDER/MODEL] [--policy NAME]
                    [--keep full|native|none] [--db FILE]
synapse keys list [--json] [--db FILE]
synapse keys revoke ID [--db FILE]

API keys for "synapse serve" (for the API key of a provider: "synapse auth PROVIDER", or "synapse keys set PROVIDER").
A new key is printed once; only its hash is stored. --owner sets whose conversations it can access (by default
"local", those of this terminal); --model restricts it to models ("openai/*"), --budget to an amount, --rate to
requests per minute, --expires to a time. --default-model and --policy are for clients of other APIs
(docs/front-doors.md): the model used when a client names one that is unknown or not allowed, and how a long history
is shortened (${presetNames.join(', ')}); --keep native stores nothing of their conversations.`,

  async run(argv) {
    const { values, positionals } = parse(argv, 2, {
      ...storeOptions,
      name: { type: 'string' },
      owner: { type: 'string' },
      'read-only': { type: 'boolean' },
      model: { type: 'string', multiple: true },
      budget: { type: 'string' },
      expires: { type: 'string' },
      rate: { type: 'string' },
      'default-model': { type: 'string' },
      policy: { type: 'string' },
      keep: { type: 'string' },
      json: { type: 'boolean' },
    })
    const [action, ...rest] = positionals
    if (action === 'set') {
      const { auth } = await import('./auth.ts')
      return auth.run(rest)
    }
    const run = action !== undefined && Object.hasOwn(actions, action) ? actions[action] : undefined
    if (!run) throw badInput('Name a subcommand: "synapse keys create", "list" or "revoke ID".')
    return withLocalStore(values, async (local) => {
      await run(local.store, rest, values)
      return exitCode.ok
    })
  },
}

type Store = LocalStore['store']

interface Values {
  name?: string | undefined
  owner?: string | undefined
  'read-only'?: boolean | undefined
  model?: string[] | undefined
  budget?: string | undefined
  expires?: string | undefined
  rate?: string | undefined
  'default-model'?: string | undefined
  policy?: string | undefined
  keep?: string | undefined
  json?: boolean | undefined
}

const actions: Record<string, (store: Store, words: string[], values: Values) => Promise<void>> = {
  create,
  list,
  revoke,
}

async function create(store: Store, words: string[], values: Values): Promise<void> {
  if (words.length > 0) throw badInput(`Unexpected argument "${words[0]}". Give a name with --name.`)
  const { createKey, keeps } = await import('../../server/keys.ts')
  const days = positive(values.expires, '--expires', 'days')
  const budget = positive(values.budget, '--budget', 'dollars')
  const perMinute = positive(values.rate, '--rate', 'requests per minute')
  const policy = presetNames.find((name) => name === values.policy)
  if (values.policy !== undefined && policy === undefined) {
    throw badInput(`--policy takes one of ${presetNames.join(', ')}, not "${values.policy}".`)
  }
  const keep = keeps.find((name) => name === values.keep)
  if (values.keep !== undefined && keep === undefined) {
    throw badInput(`--keep takes one of ${keeps.join(', ')}, not "${values.keep}".`)
  }
  const never = values.model?.find((pattern) => !/[/*]/.test(pattern))
  if (never !== undefined) {
    throw badInput(`--model takes PROVIDER/MODEL, where * is any text, such as "openai/*", not "${never}".`)
  }
  const defaultModel = values['default-model']
  if (defaultModel !== undefined) parseModelRef(defaultModel)
  const newKey: NewKey = {
    ...(values.name !== undefined && { name: values.name }),
    ...(values.owner !== undefined && { owner: values.owner }),
    ...(values['read-only'] && { access: 'read' }),
    ...(values.model && { models: values.model }),
    ...(budget !== undefined && { budget }),
    ...(perMinute !== undefined && { perMinute }),
    ...(defaultModel !== undefined && { defaultModel }),
    ...(policy !== undefined && { policy }),
    ...(keep !== undefined && { keep }),
    ...(days !== undefined && { expiresAt: new Date(Date.now() + days * 86_400_000).toISOString() }),
  }
  const { key, about } = await createKey(store, newKey)
  print(`${key}\n`)
  printError(`The key of ${about.owner} is shown only this once. Its id is ${about.id}.\n`)
}

async function list(store: Store, words: string[], values: Values): Promise<void> {
  if (words.length > 0) throw badInput(`Unexpected argument "${words[0]}". "synapse keys list" lists all keys.`)
  const { listKeys, spentBy } = await import('../../server/keys.ts')
  const all = await listKeys(store)
  if (all.length === 0 && !values.json) printError('No keys yet. "synapse keys create" creates one.\n')
  for (const key of all) {
    const spent = await spentBy(store, key.id)
    if (values.json) {
      printJson({ ...key, spent })
      continue
    }
    const about = [
      key.access === 'read' ? 'read only' : '',
      key.models ? key.models.join(' ') : '',
      key.budget === undefined ? '' : `$${spent.toFixed(2)} of $${key.budget}`,
      key.perMinute === undefined ? '' : `${key.perMinute} a minute`,
      key.defaultModel === undefined ? '' : `default ${key.defaultModel}`,
      key.policy === undefined ? '' : `policy ${key.policy}`,
      key.keep === undefined ? '' : `keeps ${key.keep}`,
      key.expiresAt ? `until ${key.expiresAt.slice(0, 10)}` : '',
      key.revokedAt ? `revoked ${key.revokedAt.slice(0, 10)}` : '',
    ]
    const words = about.filter((word) => word !== '').join(', ')
    print(neutral(`${key.id}  ${key.owner.padEnd(12)}  ${key.name.padEnd(16)}  ${words}`).trimEnd() + '\n')
  }
}

async function revoke(store: Store, [id]: string[]): Promise<void> {
  if (!id) throw badInput('Name the key to revoke: "synapse keys revoke ID".')
  const { revokeKey } = await import('../../server/keys.ts')
  const wasActive = await revokeKey(store, id)
  printError(wasActive ? 'The key is revoked.\n' : 'The key was already revoked.\n')
}

function positive(text: string | undefined, flag: string, what: string): number | undefined {
  if (text === undefined) return undefined
  const number = Number(text)
  if (number > 0 && number <= 1_000_000) return number
  throw badInput(`${flag} takes a number of ${what} up to a million, not "${text}".`)
}
