// The last known tool definitions of MCP servers, so that a changed definition is noticed: a server that was once
// reviewed and trusted can come back as something else.

import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isObject } from '../core/json.ts'
import type { Digests } from '../mcp/servers.ts'
import { dataFolder } from './local-store.ts'

/** By the configuration that names the servers. */
export function storedDigests(config: string): Digests {
  const all = read()
  const own = Object.hasOwn(all, config) ? all[config] : undefined
  return isObject(own) ? (own as Digests) : {}
}

/** Servers that are unavailable this time keep their known definitions. */
export function storeDigests(config: string, now: Digests): void {
  if (Object.keys(now).length === 0) return
  const before = storedDigests(config)
  const after = { ...before, ...now }
  if (JSON.stringify(before) === JSON.stringify(after)) return
  const path = file()
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const draft = `${path}.${process.pid}`
  writeFileSync(draft, JSON.stringify({ ...read(), [config]: after }), { mode: 0o600 })
  renameSync(draft, path)
}

function read(): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(readFileSync(file(), 'utf8'))
    return isObject(value) ? value : {}
  } catch {
    return {}
  }
}

function file(): string {
  return join(dataFolder(), 'mcp-tools.json')
}
