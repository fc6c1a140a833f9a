// A provider on loopback for a loop with a tool: `/STEPS/SIZE/chat/completions` asks for the tool until the request has
// so many results of it, then it answers with text. SIZE is the number of characters of a result, which the tool gets as an argument.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const server = createServer({ keepAliveTimeout: 600_000 }, (request, response) => {
  const [, steps = '50', size = '1000'] = (request.url ?? '').split('/')
  const pieces: Buffer[] = []
  request.on('data', (piece: Buffer) => pieces.push(piece))
  request.on('end', () => {
    const done = resultsIn(Buffer.concat(pieces).toString())
    const asks = done < Number(steps)
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
    response.end(asks ? call(done, size) : answer(), 'utf8')
  })
})
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port))

/** Results that a policy has folded are counted by the number that the newest call was given. */
function resultsIn(body: string): number {
  const last = [...body.matchAll(/number\\?":\s?(\d+)/g)].at(-1)?.[1]
  return last === undefined ? 0 : Number(last) + 1
}

function call(number: number, size: string): string {
  const pieces = ['{"number": ', `${number}, "size"`, `: ${size}}`]
  return stream(
    [
      { role: 'assistant', content: null },
      { tool_calls: [{ index: 0, id: `call_${number}`, type: 'function', function: { name: 'look', arguments: '' } }] },
      ...pieces.map((text) => ({ tool_calls: [{ index: 0, function: { arguments: text } }] })),
    ],
    'tool_calls',
  )
}

function answer(): string {
  return stream([{ role: 'assistant', content: '' }, { content: 'Done' }, { content: '.' }], 'stop')
}

function stream(deltas: readonly object[], finish: string): string {
  const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_760_000_000, model: 'gpt-4o' }
  const chunks = [
    ...deltas.map((delta) => ({ ...head, choices: [{ index: 0, delta, finish_reason: null }] })),
    { ...head, choices: [{ index: 0, delta: {}, finish_reason: finish }] },
    { ...head, choices: [], usage: { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 } },
  ]
  return `${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')}data: [DONE]\n\n`
}
