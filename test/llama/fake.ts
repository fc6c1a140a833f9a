// A server that answers as llama.cpp does where it is asked about its template, and a Synapse that asks it.

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import type { Json, JsonObject } from '../../src/core/json.ts'
import { endpointFinder } from '../../src/runtime/open.ts'
import { serving, type Serving, type ServingOptions } from '../server/serving.ts'

/** A server of Synapse whose llama.cpp is at this address. */
export async function besides(t: TestContext, url: string, options: ServingOptions = {}): Promise<Serving> {
  const env = { LLAMA_BASE_URL: `${url}/v1` }
  const endpoint = await endpointFinder({ env })
  return serving(t, { env, endpoint, offline: false, tools: [], ...options })
}

/** Answers as llama.cpp does; `prompt` makes a prompt of the messages, or fails. */
export async function fakeLlama(
  t: TestContext,
  prompt: (messages: Json | undefined) => string,
): Promise<{ url: string; asked: string[] }> {
  const asked: string[] = []
  const server = createServer((request, response) => {
    void (async () => {
      asked.push(`${request.method} ${request.url}`)
      let text = ''
      for await (const piece of request.setEncoding('utf8')) text += String(piece)
      if (request.url === '/props') {
        response.end(JSON.stringify({ chat_template: '{{ messages }}', default_generation_settings: { n_ctx: 4096 } }))
        return
      }
      try {
        const body = JSON.parse(text) as JsonObject
        response.end(JSON.stringify({ prompt: prompt(body.messages) }))
      } catch {
        response.writeHead(500).end('{"error":{"message":"the template raised an exception"}}')
      }
    })()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked }
}
