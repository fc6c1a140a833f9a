// `synapse auth`: stores the API key of a provider, for this user on this machine.

import { readStoredKeys, removeStoredKey, storedKeysFile, storeKey, type StoredKeys } from '../../config/stored-keys.ts'
import { badInput, SynapseError } from '../../core/error.ts'
import { findRow } from '../../providers/find-row.ts'
import type { ProviderRow } from '../../providers/provider.ts'
import { rows } from '../../providers/rows.ts'
import { canStoreKey } from '../../providers/stored-key.ts'
import { type Command, exitCode, parse } from '../command.ts'
import { questionOf } from '../text-file.ts'
import { print, printError, printJson } from '../print.ts'
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'

export const auth: Command = {
  usage: `synapse auth PROVIDER
synapse auth --list [--json]
synapse auth --remove PROVIDER

Stores the API key of a provider. The key is typed at a prompt that does not show it, or read from a pipe. It is stored in
a file that only you can read ($XDG_CONFIG_HOME/synapse/keys.json), and sent to the provider's own host only. A key in
the environment, such as ANTHROPIC_API_KEY, takes precedence. For keys of "synapse serve", see "synapse keys".

  --list           list providers with a stored key
  --remove         delete a stored key`,

  async run(argv) {
    const { values, positionals } = parse(argv, 1, {
      list: { type: 'boolean' },
      remove: { type: 'boolean' },
      json: { type: 'boolean' },
    })
    const [name] = positionals
    if (values.list) {
      if (name !== undefined || values.remove) throw badInput('--list takes no provider.')
      list(readStoredKeys(), values.json === true)
      return exitCode.ok
    }
    if (name === undefined) {
      const names = rows.filter(canStoreKey).map(({ id }) => id)
      throw badInput(`Name the provider: synapse auth PROVIDER. Keys can be stored for ${names.join(', ')}.`)
    }
    if (values.remove) {
      if (!removeStoredKey(name)) throw badInput(`No key is stored for "${name}". "synapse auth --list" lists them.`)
      print(`Deleted the key of ${name}.\n`)
      return exitCode.ok
    }
    const row = storable(name)
    storeKey(row.id, await keyFor(row))
    print(`Stored the key of ${row.name} in ${storedKeysFile()}.\n`)
    const variable = setVariable(row)
    if (variable !== undefined) printError(`${variable} is set in the environment and is used instead.\n`)
    return exitCode.ok
  },
}

function storable(name: string): ProviderRow {
  const row = findRow(name, rows)
  if (canStoreKey(row)) return row
  if (row.keyOptional)
    throw badInput(`${row.name} needs no key. If your server does, set ${row.keyVariables.join(' or ')}.`)
  throw badInput(
    `The address of ${row.name} is configurable, so its key is not stored: set ${row.keyVariables.join(' or ')}.`,
  )
}

async function keyFor(row: ProviderRow): Promise<string> {
  if (!process.stdin.isTTY) return (await questionOf([])).trim()
  if (row.keysAt !== undefined) printError(`Get a key for ${row.name} at ${row.keysAt}.\n`)
  const typed = (await hiddenLine(`API key of ${row.name} (not shown): `))?.trim()
  if (typed) return typed
  throw badInput('No key was entered, so nothing was stored.')
}

function list(keys: StoredKeys, json: boolean): void {
  const stored = Object.entries(keys).map(([provider, key]) => {
    const row = rows.find(({ id }) => id === provider)
    const variable = row && setVariable(row)
    return { provider, ends: key.slice(-4), ...(variable !== undefined && { instead: variable }) }
  })
  if (json) {
    printJson(stored, 2)
    return
  }
  if (stored.length === 0) printError('No keys are stored. "synapse auth PROVIDER" stores one.\n')
  for (const { provider, ends, instead } of stored) {
    const note = instead === undefined ? '' : `  (${instead} is used instead)`
    print(`${provider.padEnd(14)}  …${ends}${note}\n`)
  }
}

/** The environment variable that takes precedence over a stored key. */
function setVariable(row: ProviderRow): string | undefined {
  return row.keyVariables.find((name) => process.env[name]?.trim())
}

// One line of hidden input, such as a key.

/** Only for a terminal. Undefined: Ctrl-D. Ctrl-C is thrown, and ends the command. */
async function hiddenLine(question: string): Promise<string | undefined> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const reader = createInterface({ input: process.stdin, output: nowhere, terminal: true, historySize: 0 })
  // Only now: what is typed before the reader is ready would be shown.
  printError(question)
  try {
    return await new Promise<string | undefined>((resolve, reject) => {
      reader.once('line', resolve)
      reader.once('close', () => resolve(undefined))
      reader.once('SIGINT', () => reject(new SynapseError({ kind: 'aborted', message: 'Interrupted.' })))
    })
  } finally {
    reader.close()
    printError('\n')
  }
}
