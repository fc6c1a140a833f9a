// An unchanged coding agent, a server with a door for it, and a different provider than its own.

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { serving, type Serving, type ServingOptions } from '../server/serving.ts'
import { homeFor, install, type Client, type Ended, type Home } from './client.ts'

export interface Scene extends Serving {
  where: Home
}

export async function sceneOf(
  t: TestContext,
  client: Client,
  model: string,
  options: ServingOptions = {},
): Promise<Scene> {
  await install(client)
  const server = await serving(t, { doorModel: { model, always: true }, ...options })
  const where = homeFor(client, server.url)
  t.after(() => where.close())
  writeFileSync(join(where.cwd, 'a.txt'), 'hello from file\n')
  return { ...server, where }
}

/** No request to the provider was refused, and all of them went to it. */
export function assertAccepted({ emulator }: Scene, provider: string): void {
  assert.ok(emulator.requests.length > 0)
  const refused = emulator.requests
    .filter(({ status }) => status !== 200)
    .map(({ path, status }) => `${path} ${status}`)
  assert.deepEqual(refused, [])
  assert.ok(emulator.requests.every(({ path }) => path.startsWith(`/${provider}/`)))
}

/** The conversations of the page, without what clients ask for their own purposes. */
export async function listed({ store }: Serving): Promise<string[]> {
  const { items } = await store.conversations('local', { withoutLabel: 'side-call' })
  return items.map(({ id }) => id)
}

export function wordsOf({ code, stdout, stderr }: Ended): string {
  return `code ${code}\n${stdout.slice(-1500)}\n${stderr.slice(-1500)}`
}
