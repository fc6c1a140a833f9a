// Another library, as the bench sees it: a history in, the body of its request out.

import type { ToolSpec } from '../../src/core/context.ts'
import type { Message } from '../../src/core/message.ts'

export interface Peer {
  name: string
  protocols: readonly string[]
  /** The body as JSON. Fails with the library's own words where it refuses to build a request. */
  sent(protocol: string, messages: readonly Message[]): Promise<string>
}

export const clock: ToolSpec = {
  name: 'clock',
  description: 'Tells the time.',
  input: { type: 'object', properties: { zone: { type: 'string' } } },
}

export class Sent extends Error {}

/** A network that stores the last body, and answers with a refusal, which no client retries. */
export function listening(): { fetch: typeof fetch; last(): string | undefined } {
  let body: string | undefined
  return {
    async fetch(input, init) {
      const text = input instanceof Request ? await input.clone().text() : init?.body
      if (typeof text === 'string') body = text
      return Response.json({ error: { message: 'this is only a bench' } }, { status: 400 })
    },
    last: () => body,
  }
}

/** What was sent, whatever became of it; else why nothing was. */
export async function sentBy(run: (network: typeof fetch) => Promise<unknown>): Promise<string> {
  const network = listening()
  const usual = globalThis.fetch
  globalThis.fetch = network.fetch
  try {
    await run(network.fetch)
  } catch (error) {
    const body = network.last()
    if (body) return body
    throw error
  } finally {
    globalThis.fetch = usual
  }
  const body = network.last()
  if (!body) throw new Sent('nothing was sent')
  return body
}
