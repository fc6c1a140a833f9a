import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, realpathSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { openSynapse } from '../../src/runtime/open.ts'
import { newFolder } from '../config/folder.ts'
import { packaged, root, using } from './using.ts'

test('the reference server offers its tools under its name, and they answer', async (t) => {
  const mcp = using(t, { all: packaged('server-everything') })
  await mcp.refresh()
  assert.equal(mcp.problem('all'), undefined)
  const names = mcp.tools('all').map((tool) => tool.name)
  assert.ok(names.includes('all__echo') && names.includes('all__get-sum'), names.join(' '))
  assert.deepEqual(names, names.toSorted())
  assert.equal(await mcp.call('all__echo', { message: 'hello' }), 'Echo: hello')
  assert.match(String(await mcp.call('all__get-sum', { a: 17, b: 25 })), /42/)
})

test('images become media, structured content becomes a value, and an error is thrown', async (t) => {
  const mcp = using(t, { all: packaged('server-everything') })
  await mcp.refresh()
  const parts = await mcp.call('all__get-tiny-image')
  assert.ok(Array.isArray(parts))
  const image = parts.find((part) => part.type === 'media')
  assert.equal(image.mediaType, 'image/png')
  assert.match(image.data.base64, /^iVBOR/)
  const weather = await mcp.call('all__get-structured-content', { location: 'New York' })
  assert.deepEqual(Object.keys(weather as object).toSorted(), ['conditions', 'humidity', 'temperature'])
  await assert.rejects(mcp.call('all__get-sum', { a: 'seventeen' }), /a|number|invalid/i)
  assert.equal(await mcp.call('all__echo', { message: 'still here' }), 'Echo: still here')
})

test('the filesystem server reads and writes below its folder only', async (t) => {
  const folder = realpathSync(newFolder(t, { 'notes.txt': 'one\ntwo\n' }))
  const mcp = using(t, { files: packaged('server-filesystem', folder) })
  await mcp.refresh()
  const read = mcp.tools('files').find((tool) => tool.name === 'files__read_text_file')
  assert.equal(read?.repeatable, true, 'a tool that only reads may be run again')
  assert.equal(mcp.tools('files').find((tool) => tool.name === 'files__write_file')?.repeatable, false)
  assert.match(
    JSON.stringify(await mcp.call('files__read_text_file', { path: join(folder, 'notes.txt') })),
    /one\\ntwo/,
  )
  await mcp.call('files__write_file', { path: join(folder, 'new.txt'), content: 'three' })
  assert.equal(readFileSync(join(folder, 'new.txt'), 'utf8'), 'three')
  await assert.rejects(mcp.call('files__read_text_file', { path: '/etc/passwd' }), /denied|outside/i)
})

test('the model reads the text, and the structured content is the stored value of the result', async (t) => {
  const folder = realpathSync(newFolder(t, { 'notes.txt': 'one\ntwo\n' }))
  const mcp = using(t, { files: packaged('server-filesystem', folder) })
  await mcp.refresh()
  const synapse = await openSynapse({ offline: true, env: {} })
  t.after(() => synapse.close())
  const chat = await synapse.start({ model: 'mistral', tools: mcp.tools('files') })
  await chat
    .send(`use the tool files__read_text_file with ${JSON.stringify({ path: join(folder, 'notes.txt') })}`)
    .text()
  const [result] = (await chat.history()).flatMap(({ message }) => (message.role === 'tool' ? message.parts : []))
  assert.deepEqual(result?.output, [{ type: 'text', text: 'one\ntwo\n' }])
  assert.deepEqual(result?.value, { content: 'one\ntwo\n' })
})

test('the same over HTTP, with headers from the environment', async (t) => {
  const url = await everythingOverHttp(t)
  const mcp = using(
    t,
    { web: { url, headers: { 'x-test': 'Bearer ${WEB_TOKEN}' }, home: root } },
    { env: { WEB_TOKEN: 'w' } },
  )
  await mcp.refresh()
  assert.equal(mcp.problem('web'), undefined)
  assert.equal(await mcp.call('web__echo', { message: 'over http' }), 'Echo: over http')
})

test('a variable that is not set is named, and the server is not started', async (t) => {
  const mcp = using(t, { web: { url: 'http://127.0.0.1:9/mcp', headers: { a: '${NOT_SET}' }, home: root } })
  await mcp.refresh()
  assert.match(mcp.problem('web') ?? '', /environment variable NOT_SET is not set/)
})

test('a server sees none of our keys', async (t) => {
  process.env['SYNAPSE_TEST_API_KEY'] = 'secret'
  t.after(() => delete process.env['SYNAPSE_TEST_API_KEY'])
  const server = { ...packaged('server-everything'), env: { OWN: '${GIVEN}' } }
  const mcp = using(t, { all: server }, { env: { GIVEN: 'given' } })
  await mcp.refresh()
  const seen = String(await mcp.call('all__get-env'))
  assert.match(seen, /"OWN": "given"/)
  assert.doesNotMatch(seen, /SYNAPSE_TEST_API_KEY/)
})

/** The reference server on a free port of loopback. */
async function everythingOverHttp(t: TestContext): Promise<string> {
  const port = await freePort()
  const script = join(root, 'node_modules', '@modelcontextprotocol', 'server-everything', 'dist', 'index.js')
  const child = spawn(process.execPath, [script, 'streamableHttp'], {
    env: { PATH: process.env['PATH'] ?? '', PORT: String(port) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  t.after(async () => {
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  })
  await new Promise<void>((resolve, reject) => {
    const listen = (chunk: Buffer) => {
      if (/listening/i.test(chunk.toString())) resolve()
    }
    child.stdout.on('data', listen)
    child.stderr.on('data', listen)
    child.on('exit', (code) => reject(new Error(`it ended with ${code}`)))
  })
  return `http://127.0.0.1:${port}/mcp`
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const address = probe.address()
  probe.close()
  return typeof address === 'object' && address ? address.port : 0
}
