// A server for a test that shows what goes to the provider and what comes back.

import type { TestContext } from 'node:test'
import { serving, type Serving, type ServingOptions } from '../server/serving.ts'

interface Seen {
  url: string
  headers: Headers
  body: string
  answer: Promise<string>
}

export async function watching(t: TestContext, options: ServingOptions = {}): Promise<Serving & { seen: Seen[] }> {
  const seen: Seen[] = []
  const between = (fetch: typeof globalThis.fetch) => async (url: string | URL | Request, init?: RequestInit) => {
    const answer = await fetch(url, init)
    const [mine, theirs] = answer.body?.tee() ?? []
    const body = typeof init?.body === 'string' ? init.body : Buffer.from(init?.body as Uint8Array).toString()
    seen.push({
      url: String(url),
      headers: new Headers(init?.headers),
      body,
      answer: mine ? new Response(mine).text() : Promise.resolve(''),
    })
    const headers = new Headers(answer.headers)
    headers.set('x-of-the-provider', 'yes')
    return new Response(theirs ?? null, { status: answer.status, headers })
  }
  return { ...(await serving(t, { between, ...options })), seen }
}
