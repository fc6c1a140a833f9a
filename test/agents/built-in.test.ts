// The built-in tools: nothing outside of the folder is read, nothing but the public internet is fetched, and a command gets
// no key of ours.

import assert from 'node:assert/strict'
import { lookup as systemLookup } from 'node:dns'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { type FetchRules, fetchText, isPublicAddress } from '../../src/agents/built-in/fetch-url.ts'
import { fileTools } from '../../src/agents/built-in/files.ts'
import { commandTool } from '../../src/agents/built-in/run-command.ts'
import type { Json } from '../../src/core/json.ts'
import type { Tool } from '../../src/core/tool.ts'
import { newFolder } from '../config/folder.ts'
import { ownTime } from '../own-time.ts'

const signal = new AbortController().signal
const call = { callId: 'c1', conversationId: 'k', owner: 'local', emit: () => {}, signal }

function using(tools: readonly Tool[]) {
  return async (name: string, input: Json): Promise<string> =>
    String(await tools.find((tool) => tool.name === name)?.run(input, call))
}

test('files of the folder are read, listed and searched', async (t) => {
  const folder = newFolder(t, { 'a.txt': 'one\nTwo\nthree', 'deep/b.md': 'two words', 'node_modules/x/y.js': 'two' })
  writeFileSync(join(folder, 'blob.bin'), Buffer.from([1, 0, 2]))
  const run = using(fileTools(folder))
  assert.equal(await run('read_file', { path: 'a.txt' }), 'one\nTwo\nthree')
  assert.equal(await run('read_file', { path: './deep/../a.txt', from: 2, lines: 1 }), 'Two')
  assert.equal(await run('list_files', {}), 'a.txt\nblob.bin\ndeep/\ndeep/b.md')
  assert.equal(await run('search_files', { text: 'two' }), 'a.txt:2: Two\ndeep/b.md:1: two words')
  await assert.rejects(run('read_file', { path: 'blob.bin' }), /is not a text file/)
  await assert.rejects(run('read_file', { path: 'deep' }), /is not a file/)
  await assert.rejects(run('read_file', { path: 'none.txt' }), /there is no none\.txt/)
})

test('a long file is read in parts, and shows where to continue', async (t) => {
  const folder = newFolder(t, { 'long.txt': Array.from({ length: 60_000 }, (_, i) => `line ${i + 1}`).join('\n') })
  const run = using(fileTools(folder))
  const [, next] = /continue with from: (\d+)\]$/.exec(await run('read_file', { path: 'long.txt' })) ?? []
  assert.match(await run('read_file', { path: 'long.txt', from: Number(next), lines: 1 }), new RegExp(`^line ${next}$`))
})

test('neither "..", an absolute path nor a link leads out of the folder', async (t) => {
  const outside = newFolder(t, { 'secret.txt': 'sesame' })
  const folder = newFolder(t, { 'a.txt': 'a' })
  symlinkSync(join(outside, 'secret.txt'), join(folder, 'file-link'))
  symlinkSync(outside, join(folder, 'folder-link'))
  symlinkSync('/etc', join(folder, 'etc'))
  mkdirSync(join(folder, '..name'))
  const run = using(fileTools(folder))
  for (const path of [
    '../secret.txt',
    `${outside}/secret.txt`,
    'file-link',
    'folder-link/secret.txt',
    'etc/passwd',
    'a.txt/../../secret.txt',
    `../${outside.split('/').at(-1)}/secret.txt`,
    'a\0.txt',
  ]) {
    await assert.rejects(run('read_file', { path }), /outside of the folder|there is no|zero characters/, path)
  }
  await assert.rejects(run('list_files', { path: 'folder-link' }), /outside of the folder/)
  assert.equal(await run('search_files', { text: 'sesame' }), 'Nothing was found.')
  assert.equal(await run('list_files', {}), '..name/\na.txt')
})

test('only addresses of the public internet are public, in every notation', () => {
  for (const address of ['93.184.216.34', '1.1.1.1', '2606:4700:4700::1111', '2a00:1450:4001::1']) {
    assert.equal(isPublicAddress(address), true, address)
  }
  for (const address of [
    '127.0.0.1',
    '127.255.0.9',
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '169.254.169.254',
    '172.31.255.255',
    '192.168.1.1',
    '192.0.0.8',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::ffff:127.0.0.1',
    '::ffff:a9fe:a9fe',
    '::ffff:0:127.0.0.1',
    '64:ff9b::a9fe:a9fe',
    '64:ff9b:1::1',
    'fe80::1',
    'fc00::1',
    'fd12::1',
    'ff02::1',
    '2001::1',
    '2001:db8::1',
    '2002:7f00:1::',
    'no address',
  ]) {
    assert.equal(isPublicAddress(address), false, address)
  }
})

/** A server on loopback, and rules that count exactly it as public. */
async function site(
  t: TestContext,
  answer: (path: string) => { status?: number; headers?: Record<string, string>; body?: string },
) {
  const seen: string[] = []
  const server = createServer((request, response) => {
    seen.push(request.url ?? '')
    const { status = 200, headers = {}, body = '' } = answer(request.url ?? '')
    response.writeHead(status, headers).end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const lookup = ((name: string, options: object, done: (...given: unknown[]) => void) => {
    if (name === 'site.test') done(null, [{ address: '127.0.0.1', family: 4 }])
    else if (name === 'inside.test') done(null, [{ address: '127.0.0.2', family: 4 }])
    else if (name === 'both.test')
      done(null, [
        { address: '127.0.0.1', family: 4 },
        { address: '10.0.0.1', family: 4 },
      ])
    else systemLookup(name, options, done as never)
  }) as unknown as typeof systemLookup
  const rules: FetchRules = { allows: (address) => address === '127.0.0.1', lookup }
  return { url: `http://site.test:${port}`, port, rules, seen }
}

test('a page is fetched as text, without its scripts', async (t) => {
  const html =
    '<title lang="a<b">Tea &amp; co</title><script>alert(1)</script><style media="(width<9px)">p {}</style>' +
    '<p title="a<b">Green</p><!-- no --><ul><li>Black</ul><template v-if="a < b">more</template>'
  const { url, rules } = await site(t, (path) =>
    path === '/page'
      ? { headers: { 'content-type': 'text/html' }, body: html }
      : { headers: { 'content-type': 'image/png' } },
  )
  assert.equal(await fetchText(`${url}/page`, rules, signal), 'Tea & co\n\nGreen\n\nBlack')
  await assert.rejects(fetchText(`${url}/picture`, rules, signal), /is image\/png, not text/)
})

test('a page of tags without ends takes linear time', async (t) => {
  const pages = ['<svg', '<svg>', '<title<t', '<title>', '<p<', '<p', '<script></script '].map((tag) =>
    tag.repeat(300_000 / tag.length),
  )
  const { url, rules } = await site(t, (path) => ({
    headers: { 'content-type': 'text/html' },
    body: pages[Number(path.slice(1))] ?? '',
  }))
  const began = performance.now()
  for (const page of pages.keys()) await fetchText(`${url}/${page}`, rules, signal)
  assert.ok(performance.now() - began < 5000)
})

test('nothing but the public internet is fetched: not by name, by address, or after a redirect', async (t) => {
  const { url, port, rules, seen } = await site(t, (path) => ({
    status: 302,
    headers: {
      location:
        path === '/name'
          ? `http://inside.test:${port}/`
          : path === '/file'
            ? 'file:///etc/passwd'
            : `http://[::1]:${port}/`,
    },
  }))
  const refused = /is not on the public internet/
  await assert.rejects(fetchText(`http://inside.test:${port}/`, rules, signal), refused)
  await assert.rejects(fetchText(`http://both.test:${port}/`, rules, signal), refused)
  await assert.rejects(fetchText(`${url}/name`, rules, signal), refused)
  await assert.rejects(fetchText(`${url}/address`, rules, signal), refused)
  await assert.rejects(fetchText(`${url}/file`, rules, signal), /only http and https/)
  assert.deepEqual(seen, ['/name', '/address', '/file'])
  for (const address of [
    `http://127.0.0.1:${port}/`,
    `http://2130706433:${port}/`,
    `http://0x7f.1:${port}/`,
    `http://0177.0.0.1:${port}/`,
    `http://[::ffff:7f00:1]:${port}/`,
    `http://localhost:${port}/`,
    `http://localhost.:${port}/`,
  ]) {
    // Some systems know no "localhost." at all.
    await assert.rejects(fetchText(address, {}, signal), /is not on the public internet|ENOTFOUND/, address)
  }
  await assert.rejects(fetchText('http://user:word@site.test/', rules, signal), /name or password/)
  await assert.rejects(fetchText('ftp://site.test/', rules, signal), /only http and https/)
  assert.equal(seen.length, 3)
})

test('a command runs in the folder, without our keys, and ends with all that it started', async (t) => {
  const folder = newFolder(t, { 'a.txt': 'a' })
  const run = using([commandTool(folder)])
  process.env['ANTHROPIC_API_KEY'] = 'sk-hidden'
  t.after(() => delete process.env['ANTHROPIC_API_KEY'])
  assert.equal(
    await run('run_command', { command: 'ls; echo key:$ANTHROPIC_API_KEY; exit 3' }),
    'a.txt\nkey:\n\n[exit code 3]',
  )
  const elapsed = ownTime(t)
  assert.match(await run('run_command', { command: 'sleep 60 & sleep 60', seconds: 1 }), /\[it was ended after 1 s\]/)
  assert.ok(elapsed() < 20_000)
  assert.match(
    await run('run_command', { command: 'yes | head -c 300000' }),
    /\[\d+ more characters\]\n\[exit code 0\]$/,
  )
})
