// Every program in examples/, from the packed package, and OpenTelemetry with each generation of its SDK.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { after } from 'node:test'
import { promisify } from 'node:util'
import { install } from '../installed.ts'
import { findPostgres, makeDatabase } from '../store/postgres-server.ts'
import { compiled, exampleNames, examples, link, missing, output, packages } from './examples.ts'

const run = promisify(execFile)
const folder = mkdtempSync(join(tmpdir(), 'synapse-examples-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const npm = (cwd: string, ...names: string[]) =>
  run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', ...names], { cwd, timeout: 300_000 })

const ready = (async () => {
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }')
  await npm(
    folder,
    'express@5.3.0',
    '@types/express@5.0.6',
    '@types/node@24.19.2',
    '@opentelemetry/api@1.9.1',
    '@opentelemetry/sdk-trace-base@2.12.0',
  )
  install(folder)
  link(folder, packages)
})()

test('all of them are compiled strictly', async () => {
  await ready
  assert.equal(await compiled(folder, exampleNames()), '')
})

const programs = findPostgres()
for (const name of Object.keys(examples)) {
  const skip = name.startsWith('postgres') && programs === undefined ? 'there is no PostgreSQL' : false
  test(`${name} prints what it should`, { skip }, async (t) => {
    await ready
    const database = name.startsWith('postgres') ? await makeDatabase(programs ?? '') : undefined
    t.after(() => database?.remove())
    assert.equal(missing(name, await output(folder, name, database && { DATABASE_URL: database.url })), undefined)
  })
}

/** The package of each generation of the SDK, and how a provider is registered. */
const sdks = {
  '1.x': ['@opentelemetry/sdk-trace-base@1.30.1', '@opentelemetry/api@1.9.1'],
  '2.x': ['@opentelemetry/sdk-trace-base@2.12.0', '@opentelemetry/api@1.9.1'],
  '3.x': ['@opentelemetry/sdk-trace@3.1.1', '@opentelemetry/api'],
} as const

for (const [generation, wanted] of Object.entries(sdks)) {
  test(`OpenTelemetry SDK ${generation} records the spans of a run`, async () => {
    await ready
    const own = mkdtempSync(join(folder, 'telemetry-'))
    writeFileSync(join(own, 'package.json'), '{ "private": true, "type": "module" }')
    await npm(own, ...wanted)
    install(own)
    const sdk = wanted[0].slice(0, wanted[0].lastIndexOf('@'))
    const code = `
      import { trace } from '@opentelemetry/api'
      import * as sdk from '${sdk}'
      import { openSynapse } from 'synapse'
      const exporter = new sdk.InMemorySpanExporter()
      // The names and arguments of 1.x and 2.x, and those of 3.x.
      const Provider = sdk.BasicTracerProvider ?? sdk.TracerProvider
      const processor = new sdk.SimpleSpanProcessor(sdk.BasicTracerProvider ? exporter : { exporter })
      const provider = new Provider({ spanProcessors: [processor] })
      trace.setGlobalTracerProvider(provider)
      trace.getTracer('own').startSpan('mine').end()
      const synapse = await openSynapse({ offline: true, telemetry: true })
      await (await synapse.start({ model: 'anthropic/claude-opus-5' })).send('Hello').ended
      const given = await openSynapse({ offline: true, telemetry: { tracer: trace.getTracer('given') } })
      await (await given.start({ model: 'openai/gpt-5.6' })).send('Hello').ended
      await provider.forceFlush()
      console.log(JSON.stringify(exporter.getFinishedSpans().map(({ name }) => name)))`
    writeFileSync(join(own, 'main.mjs'), code)
    const { stdout, stderr } = await run(process.execPath, ['main.mjs'], { cwd: own })
    assert.deepEqual(JSON.parse(stdout), ['mine', 'chat claude-opus-5', 'invoke_agent', 'chat gpt-5.6', 'invoke_agent'])
    assert.doesNotMatch(stderr, /SYNAPSE_TELEMETRY/)
  })
}
