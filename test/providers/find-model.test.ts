// Models by the names that people say.

import assert from 'node:assert/strict'
import test from 'node:test'
import { findModel } from '../../src/providers/find-model.ts'
import { rows } from '../../src/providers/rows.ts'
import type { ProviderRow } from '../../src/providers/provider.ts'
import { openSynapse } from '../../src/runtime/open.ts'

const row = (id: string, ...models: string[]): ProviderRow => ({
  id,
  name: id,
  wires: [{ protocol: 'openai-chat', baseUrl: `https://${id}.example/v1`, caching: 'none' }],
  keyVariables: [`${id.toUpperCase()}_KEY`],
  auth: { header: 'authorization', prefix: 'Bearer ' },
  models: Object.fromEntries(models.map((model) => [model, {}])),
})
const own = [row('one', 'alpha-1', 'shared'), row('two', 'beta-2', 'shared', 'maker/gamma')]

const named = async (text: string, env: Record<string, string> = {}) => {
  const { provider, model } = await findModel(text, { rows: own, env })
  return `${provider}/${model}`
}

test('a name that one provider offers needs no provider', async () => {
  assert.equal(await named('alpha-1'), 'one/alpha-1')
  assert.equal(await named('BETA-2'), 'two/beta-2')
  assert.equal(await named('maker/gamma'), 'two/maker/gamma')
})

test('of several providers the one with a key is used', async () => {
  assert.equal(await named('shared', { TWO_KEY: 'k' }), 'two/shared')
  await assert.rejects(named('shared'), /Several providers offer "shared"\. Write one of one\/shared, two\/shared\./)
  await assert.rejects(named('shared', { ONE_KEY: 'k', TWO_KEY: 'k' }), /Several providers/)
})

test('a name that is nearly right is suggested, and one that is not is left to the provider', async () => {
  await assert.rejects(named('alpa-1'), /Did you mean one\/alpha-1\?/)
  await assert.rejects(named('beta'), /Did you mean two\/beta-2\?/)
  assert.equal(await named('one/anything'), 'one/anything')
  assert.deepEqual(await findModel('nothing-like-it', { rows: own, env: {} }), { provider: 'nothing-like-it' })
})

test('a long name is compared with no other, for it can come from a client of a server', async () => {
  const longest = 'x'.repeat(1000)
  assert.deepEqual(await findModel(longest, { rows, env: {} }), { provider: longest })
  for (const long of ['x'.repeat(100_000), `openai/a${' '.repeat(200_000)}b`])
    await assert.rejects(
      findModel(long, { rows, env: {} }),
      /The name of a model has at most 1000 characters, not \d+\./,
    )
})

test('the names of the built-in providers that people say most are found', async () => {
  const env = { OPENAI_API_KEY: 'k', ANTHROPIC_API_KEY: 'k' }
  assert.deepEqual((await findModel('gpt-5.6', { rows, env })).provider, 'openai')
  assert.deepEqual((await findModel('claude-opus-5', { rows, env })).provider, 'anthropic')
})

test('the library accepts a bare name', async () => {
  const synapse = await openSynapse({ offline: true, rows: [row('mine', 'my-model')] })
  const chat = await synapse.start({ model: 'my-model' })
  assert.match(await chat.send('Hello').text(), /Hello/)
  await synapse.close()
})
