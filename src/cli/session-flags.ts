// The options of a question and of a chat.

import { realpathSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { badInput } from '../core/error.ts'
import { configOptions } from './project-config.ts'
import { storeOptions } from './local-store.ts'

export const sessionFlags = {
  ...storeOptions,
  ...configOptions,
  model: { type: 'string', short: 'm' },
  system: { type: 'string', short: 's' },
  agent: { type: 'string' },
  continue: { type: 'boolean', short: 'c' },
  conversation: { type: 'string' },
  offline: { type: 'boolean' },
  protocol: { type: 'string' },
  policy: { type: 'string' },
  option: { type: 'string', short: 'o', multiple: true },
  fragment: { type: 'string', short: 'f', multiple: true },
  attach: { type: 'string', short: 'a', multiple: true },
  tool: { type: 'string', short: 'T', multiple: true },
  'no-tools': { type: 'boolean' },
  folder: { type: 'string' },
  yes: { type: 'boolean', short: 'y' },
  plain: { type: 'boolean' },
  json: { type: 'boolean' },
} as const

/** Without a question, the last run continues. */
export const askFlags = {
  ...sessionFlags,
  resume: { type: 'boolean' },
  prompt: { type: 'string', short: 'p' },
  template: { type: 'string', short: 't' },
} as const

export interface SessionFlags {
  db?: string | undefined
  config?: string | undefined
  'no-config'?: boolean | undefined
  model?: string | undefined
  system?: string | undefined
  agent?: string | undefined
  continue?: boolean | undefined
  conversation?: string | undefined
  offline?: boolean | undefined
  protocol?: string | undefined
  policy?: string | undefined
  option?: string[] | undefined
  tool?: string[] | undefined
  plain?: boolean | undefined
  folder?: string | undefined
  'no-tools'?: boolean | undefined
}

/** The folder that `--folder` names. */
export function folderOf(text: string): string {
  const path = resolve(text)
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return realpathSync(path)
  throw badInput(`--folder takes a folder, but ${text} is not one.`)
}
