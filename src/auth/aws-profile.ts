// A profile of the files that AWS's own tools share, `~/.aws/credentials` and `~/.aws/config`, as one map of settings.

import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { Env } from './authorizer.ts'

export type Profile = Readonly<Record<string, string>>

export function profileName(env: Env): string {
  return env['AWS_PROFILE']?.trim() || 'default'
}

/** The settings of a profile, the credentials file before the other; undefined if neither names it. */
export function awsProfile(env: Env, name: string = profileName(env)): Profile | undefined {
  const folder = join(env['HOME'] || env['USERPROFILE'] || homedir(), '.aws')
  const credentials = sections(env['AWS_SHARED_CREDENTIALS_FILE']?.trim() || join(folder, 'credentials'))
  const config = sections(env['AWS_CONFIG_FILE']?.trim() || join(folder, 'config'))
  const found = [
    config.get(`profile ${name}`),
    name === 'default' ? config.get(name) : undefined,
    credentials.get(name),
  ]
  return found.some(Boolean) ? Object.assign({}, ...found) : undefined
}

/** The file by its sections; empty if it cannot be read. */
function sections(path: string): Map<string, Record<string, string>> {
  const all = new Map<string, Record<string, string>>()
  let text = ''
  try {
    text = readFileSync(path, 'utf8')
  } catch {
    return all
  }
  let current: Record<string, string> = {}
  for (const line of text.split(/\r?\n/)) {
    // An indented line is a setting inside of another one.
    if (/^\s*([#;]|$)/.test(line) || /^\s/.test(line)) continue
    const [, section] = /^\[\s*([^\]]+?)\s*\]/.exec(line) ?? []
    if (section !== undefined) {
      const name = section.replaceAll(/\s+/g, ' ')
      current = all.get(name) ?? {}
      all.set(name, current)
      continue
    }
    const [, name, value] = /^([^=\s]+)\s*=\s*(.*?)\s*(?:\s[#;].*)?$/.exec(line) ?? []
    if (name !== undefined && value !== undefined) current[name.toLowerCase()] = value
  }
  return all
}
