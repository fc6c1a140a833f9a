// Request bodies as unchanged clients sent them, stored next to the repository. Tests that need them are skipped where
// they are absent.

import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { JsonObject } from '../src/core/json.ts'
import { routeOf } from '../src/emulator/route.ts'

const folder = join(import.meta.dirname, '..', '..', 'shared', 'clients', 'bodies')

/** For the `skip` option of a test: false, or the reason. */
export const noBodies: string | false = existsSync(folder)
  ? false
  : 'the recorded request bodies are not on this machine'

export interface ClientBody {
  name: string
  url: string
  /** As far as they say who asks. */
  headers: Record<string, string>
  body: JsonObject
  provider: string
  protocol: string
  model: string
}

export const clientBodies: ClientBody[] = noBodies
  ? []
  : await Promise.all(
      globSync('*.json', { cwd: folder })
        .toSorted()
        .map((file) => read(file)),
    )

async function read(file: string): Promise<ClientBody> {
  const { url, headers, body } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as ClientBody
  const route = await routeOf('POST', new URL(url, 'http://127.0.0.1'), new Headers())
  const operation = route?.operation
  if (!route || operation?.do !== 'reply') throw new Error(`${file}: ${url} is no request for a reply`)
  const model = operation.model ?? (typeof body.model === 'string' ? body.model : '')
  return {
    name: file.replace('.json', ''),
    url,
    headers,
    body,
    provider: route.provider,
    protocol: route.protocol,
    model,
  }
}
