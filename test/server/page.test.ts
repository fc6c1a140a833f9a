import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { networkOf, rateLimit } from '../../src/server/rate-limit.ts'
import { eventStream, frame } from '../../src/server/runs/sse.ts'
import { tempFolder } from '../store/temp.ts'
import { serving } from './serving.ts'

test('the page is served by exact paths only, with a policy that lets no foreign script run', async (t) => {
  const folder = tempFolder(t)
  const page = join(folder, 'web')
  mkdirSync(join(page, 'assets'), { recursive: true })
  writeFileSync(join(page, 'index.html'), '<!doctype html><title>Synapse</title>')
  writeFileSync(join(page, 'assets', 'app-0a1b2c3d.js'), 'export {}\n'.repeat(200))
  writeFileSync(join(page, 'notes.md'), 'not for the page')
  writeFileSync(join(folder, 'secret.txt'), 'secret')
  const { url } = await serving(t, { page })
  for (const path of ['/', '/c/0199-abc', '/index.html']) {
    const response = await fetch(url + path)
    assert.equal(response.status, 200, path)
    assert.match(await response.text(), /<title>Synapse/)
    assert.equal(response.headers.get('cache-control'), 'no-cache')
    const policy = response.headers.get('content-security-policy') ?? ''
    for (const rule of [
      "default-src 'none'",
      "script-src 'self'",
      "connect-src 'self'",
      "frame-ancestors 'none'",
      "base-uri 'none'",
      "require-trusted-types-for 'script'",
    ]) {
      assert.ok(policy.split('; ').includes(rule), rule)
    }
    assert.doesNotMatch(policy, /unsafe|\*|https?:/)
    assert.equal(response.headers.get('x-content-type-options'), 'nosniff')
    assert.equal(response.headers.get('referrer-policy'), 'no-referrer')
  }
  const script = await fetch(`${url}/assets/app-0a1b2c3d.js`)
  assert.match(script.headers.get('cache-control') ?? '', /immutable/)
  assert.equal(script.headers.get('content-encoding'), 'gzip')
  assert.equal((await script.text()).length, 2000)
  const etag = script.headers.get('etag') ?? ''
  assert.equal((await fetch(`${url}/assets/app-0a1b2c3d.js`, { headers: { 'if-none-match': etag } })).status, 304)
  for (const path of ['/notes.md', '/../secret.txt', '/%2e%2e/secret.txt', '/..%2fsecret.txt', '/assets/', '/c/a/b']) {
    const response = await fetch(url + path)
    assert.equal(response.status, 404, path)
    assert.doesNotMatch(await response.text(), /secret|not for the page/)
  }
})

test('API responses are not cached, and browsers do not sniff their type', async (t) => {
  const { api } = await serving(t)
  const { headers } = await api('GET', '/api/conversations')
  assert.equal(headers.get('cache-control'), 'no-store')
  assert.equal(headers.get('x-content-type-options'), 'nosniff')
  assert.match(headers.get('content-security-policy') ?? '', /default-src 'none'/)
})

test('a rate limit refills over time, separately for each client', () => {
  let now = 0
  const limit = rateLimit({ perMinute: 60, burst: 2 }, () => now)
  limit.take('a')
  limit.take('a')
  assert.throws(() => limit.take('a'), /Too many requests/)
  limit.take('b')
  now += 1000
  limit.take('a')
  assert.throws(() => limit.take('a'))
  now += 3_600_000
  limit.take('a')
  limit.take('a')
})

test('a silent stream sends keep-alives, and reports its end', async () => {
  let reads = 0
  const told: string[] = []
  const source = {
    read: async (from: number) => {
      const ended = ++reads > 3
      return { frames: ended && from === 0 ? [frame(1, '{"type":"run-end"}')] : [], next: ended ? 1 : 0, ended }
    },
    wait: (_: number, ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms)),
    close: () => told.push('let go'),
  }
  const stream = eventStream(source, 0, {
    onOpen: () => told.push('open'),
    onClose: () => told.push('close'),
    heartbeatMs: 1,
  })
  let text = ''
  for await (const chunk of stream) text += new TextDecoder().decode(chunk)
  assert.match(text, /^(: still here\n\n)+id: 1\nevent: run-end\ndata: \{"type":"run-end"\}\n\n$/)
  assert.deepEqual(told, ['open', 'let go', 'close'])
})

test('addresses of one network count as one', () => {
  assert.equal(networkOf('192.0.2.7'), '192.0.2.7')
  assert.equal(networkOf('::ffff:192.0.2.7'), '192.0.2.7')
  assert.equal(networkOf('2001:db8:1:2:3:4:5:6'), networkOf('2001:0db8:0001:2::99'))
  assert.notEqual(networkOf('2001:db8:1:2::1'), networkOf('2001:db8:1:3::1'))
  assert.equal(networkOf('2001:db8::'), networkOf('2001:db8:0:0:ffff::'))
})
