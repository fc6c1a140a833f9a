import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { newFolder } from '../config/folder.ts'
import { faulty, packaged, root, using } from './using.ts'

function journalIn(t: TestContext): { journal: string; lines: (word: string) => number } {
  const journal = join(newFolder(t), 'journal')
  return {
    journal,
    lines: (word) =>
      readFileSync(journal, 'utf8')
        .split('\n')
        .filter((line) => line.startsWith(word)).length,
  }
}

test('servers that do not start, die or say nothing do not hold up the one that works', async (t) => {
  const mcp = using(t, {
    // A folder of the user's PATH that cannot be entered would change the reason.
    none: { command: 'no-such-program-anywhere', home: root, env: { PATH: dirname(process.execPath) } },
    locked: { command: join(import.meta.dirname, 'faulty-server.ts'), home: root },
    dead: faulty('dies-at-start'),
    mute: faulty('silent', { connectTimeoutMs: 1500 }),
    gone: { url: 'http://127.0.0.1:9/mcp', home: root },
    well: packaged('server-everything'),
  })
  await mcp.refresh()
  assert.match(mcp.problem('none') ?? '', /no such program/)
  assert.match(mcp.problem('locked') ?? '', /permission denied; check that it is executable/)
  assert.match(mcp.problem('dead') ?? '', /no licence found/)
  assert.match(mcp.problem('mute') ?? '', /did not start within 1500 ms|timed out/i)
  assert.ok(mcp.problem('gone'))
  assert.equal(mcp.problem('well'), undefined)
  assert.equal(await mcp.call('well__echo', { message: 'hi' }), 'Echo: hi')
})

test('a server that dies in a call fails that call, is started again for the next, and no call is sent twice', async (t) => {
  const { journal, lines } = journalIn(t)
  const mcp = using(t, { bad: faulty('', { journal }) })
  await mcp.refresh()
  const before = lines('start')
  await assert.rejects(mcp.call('bad__die'), /bad did not answer.*whether the call had any effect is not known/)
  assert.ok(mcp.problem('bad'))
  assert.ok(mcp.tools('bad').length > 0, 'what it offered stays on offer')
  assert.equal(await mcp.call('bad__echo'), 'echo')
  assert.equal(mcp.problem('bad'), undefined)
  assert.ok(lines('start') > before)
  assert.equal(lines('call die'), 1)
})

test('a call that hangs ends at its timeout; a live server is kept', async (t) => {
  const { journal, lines } = journalIn(t)
  // Also enough for the answer of a busy machine.
  const mcp = using(t, { bad: faulty('', { journal, callTimeoutMs: 4000 }) })
  await mcp.refresh()
  const before = lines('start')
  await assert.rejects(mcp.call('bad__hang'), /no answer within 4000 ms/)
  assert.equal(await mcp.call('bad__echo'), 'echo')
  assert.equal(lines('start'), before)
})

test('a server that hangs forever is killed, and started again', async (t) => {
  const { journal, lines } = journalIn(t)
  const mcp = using(t, { bad: faulty('hangs-for-good', { journal, callTimeoutMs: 1000 }) })
  await mcp.refresh()
  const before = lines('start')
  await assert.rejects(mcp.call('bad__hang'), /no answer within 1000 ms/)
  const pids = [...readFileSync(journal, 'utf8').matchAll(/start (\d+)/g)].map(([, pid]) => Number(pid))
  for (const pid of pids) assert.throws(() => process.kill(pid, 0), `${pid} still runs`)
  assert.ok(mcp.problem('bad'))
  await mcp.refresh()
  assert.equal(mcp.problem('bad'), undefined)
  assert.ok(lines('start') > before)
})

test('a call that is aborted ends at once', async (t) => {
  const mcp = using(t, { bad: faulty('') })
  await mcp.refresh()
  const stop = new AbortController()
  const call = mcp.call('bad__hang', {}, stop.signal)
  stop.abort(new Error('enough'))
  await assert.rejects(call, /enough/)
  assert.equal(await mcp.call('bad__echo'), 'echo')
})

test('a hundred megabytes are not read: the call fails, and the next one works', async (t) => {
  const mcp = using(t, { bad: faulty('') })
  await mcp.refresh()
  const before = process.memoryUsage().rss
  await assert.rejects(mcp.call('bad__flood'), /more than 4000000 bytes/)
  assert.ok(process.memoryUsage().rss - before < 150_000_000)
  assert.equal(await mcp.call('bad__echo'), 'echo')
})

test('a hundred megabytes over HTTP are not read either', async (t) => {
  const url = await floodingHttp(t)
  const mcp = using(t, { web: { url, home: root, maxOutputBytes: 100_000 } })
  await mcp.refresh()
  assert.ok(mcp.tools('web').length > 0, mcp.problem('web'))
  await assert.rejects(mcp.call('web__flood'), /web did not answer/)
})

test('a list that changes is read again, and a tool that changed is not run before it is allowed', async (t) => {
  const mcp = using(t, { bad: faulty('') })
  await mcp.refresh()
  assert.equal(mcp.notes.length, 0)
  await mcp.call('bad__change')
  const echo = mcp.tools('bad').find((tool) => tool.name === 'bad__echo')
  const run = async () =>
    echo?.run(
      {},
      { callId: 'c1', conversationId: 'k', owner: 'local', emit: () => {}, signal: new AbortController().signal },
    )
  for (let i = 0; i < 500 && mcp.notes.length < 2; i++) await run().catch(() => {})
  assert.deepEqual(
    mcp.notes.map(({ kind, what }) => `${kind} ${what}`),
    ['added tool bad__added', 'changed tool bad__echo'],
  )
  const offered = () => mcp.tools('bad').find((tool) => tool.name === 'bad__echo')?.description
  assert.equal(offered(), undefined)
  await assert.rejects(run(), /bad has changed the definition of echo since it was allowed, so it was not run/)
  const [added, changed] = mcp.changed('bad')
  assert.deepEqual([added?.name, added?.added, added?.before], ['bad__added', true, undefined])
  const hasAdded = () => mcp.tools('bad').some((tool) => tool.name === 'bad__added')
  assert.equal(hasAdded(), false, 'a tool that the server did not have before is left out')
  if (added) mcp.allow(added)
  assert.equal(hasAdded(), true)
  assert.match(changed?.before ?? '', /"Gives back\."/)
  assert.match(changed?.now ?? '', /reads all your mail/)
  if (changed) mcp.allow(changed)
  assert.match(offered() ?? '', /mail/)
  await assert.rejects(run(), /was not run/, 'what was offered before is still the old tool')
  assert.ok(await mcp.call('bad__echo'))
})

test('an allowed definition stays known until the change is allowed, even for a removed tool', async (t) => {
  const first = using(t, { bad: faulty('') })
  await first.refresh()
  const { bad = {} } = first.digests()
  const known = { bad: { ...bad, bad__echo: 'another', bad__old: { sha256: 'old', text: 'old' } } }
  const second = using(t, { bad: faulty('') }, { known })
  await second.refresh()
  assert.equal(second.digests()['bad']?.['bad__echo'], 'another')
  assert.deepEqual(second.digests()['bad']?.['bad__old'], { sha256: 'old', text: 'old', gone: true })
  const [changed] = second.changed('bad')
  if (changed) second.allow(changed)
  assert.deepEqual(second.digests()['bad']?.['bad__echo'], bad['bad__echo'])
  const third = using(t, { bad: faulty('') }, { known: second.digests() })
  await third.refresh()
  assert.deepEqual(third.notes, [], 'that it is gone was said once')
})

test('a definition that differs from the last time is noted at the start', async (t) => {
  const first = using(t, { bad: faulty('') })
  await first.refresh()
  const { bad = {} } = first.digests()
  const known = { bad: { ...bad, bad__echo: 'another', bad__old: 'gone' } }
  const second = using(t, { bad: faulty('') }, { known })
  await second.refresh()
  assert.deepEqual(
    second.notes.map(({ kind, what }) => `${kind} ${what}`),
    ['changed tool bad__echo', 'dropped tool bad__old'],
  )
})

test('unexpected answers and lines that are not JSON are ignored', async (t) => {
  const mcp = using(t, { bad: faulty('') })
  await mcp.refresh()
  assert.equal(await mcp.call('bad__stranger'), 'for you')
})

test('a call that the protocol refuses reports why, and the server is kept', async (t) => {
  const { journal, lines } = journalIn(t)
  const mcp = using(t, { bad: faulty('', { journal }) })
  await mcp.refresh()
  const before = lines('start')
  await assert.rejects(mcp.call('bad__refuse'), /not like this/)
  assert.equal(await mcp.call('bad__echo'), 'echo')
  assert.equal(lines('start'), before)
})

test('a server that does not come back is retried with exponential backoff', async (t) => {
  let now = 1_000_000
  const { journal, lines } = journalIn(t)
  const mcp = using(t, { dead: faulty('dies-at-start', { journal }) }, { now: () => now })
  const starts: number[] = []
  for (const wait of [0, 500, 500, 1000, 1000]) {
    now += wait
    await mcp.refresh()
    starts.push(lines('start'))
  }
  const [first = 0, same, second = 0, still, third = 0] = starts
  assert.equal(same, first, 'not within the first second')
  assert.ok(second > first)
  assert.equal(still, second, 'not within the next two')
  assert.ok(third > second)
})

/** One that answers properly until it is asked for the flood. */
async function floodingHttp(t: TestContext): Promise<string> {
  const server = createServer((request, reply) => void serve(request, reply))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  return `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}/mcp`

  async function serve(request: IncomingMessage, reply: ServerResponse): Promise<unknown> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const text = Buffer.concat(chunks).toString()
    if (request.method !== 'POST') return reply.writeHead(405).end()
    const { id, method } = JSON.parse(text) as { id?: number; method: string }
    if (id === undefined) return reply.writeHead(202).end()
    reply.writeHead(200, { 'content-type': 'application/json' })
    const answer = (result: object) => reply.end(JSON.stringify({ jsonrpc: '2.0', id, result }))
    if (method === 'initialize') {
      const serverInfo = { name: 'flood', version: '1' }
      return answer({ protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo })
    }
    if (method === 'tools/list') return answer({ tools: [{ name: 'flood', inputSchema: { type: 'object' } }] })
    if (method === 'tools/call') {
      reply.write(`{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"`)
      const piece = 'x'.repeat(1024 * 1024)
      for (let i = 0; i < 100 && !reply.destroyed; i++) {
        if (!reply.write(piece)) await Promise.race([once(reply, 'drain'), once(reply, 'close')])
      }
      return reply.end('"}]}}')
    }
    return reply.end(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32_601, message: 'Method not found' } }))
  }
}
