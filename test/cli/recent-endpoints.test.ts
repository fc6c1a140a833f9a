// An endpoint is looked up again after a second, and a failure is not remembered at all.

import assert from 'node:assert/strict'
import test from 'node:test'
import { recentEndpoints } from '../../src/cli/recent-endpoints.ts'

function counting() {
  const looked: string[] = []
  let now = 1000
  const find = async (model: string, protocol: string | undefined) => {
    looked.push(`${model} ${protocol ?? '-'}`)
    if (model === 'missing/m') throw new Error('needs a key')
    return { endpoint: { model }, transport: {} }
  }
  const endpoint = recentEndpoints(find as never, () => now)
  return { looked, endpoint, pass: (ms: number) => void (now += ms) }
}

test('within a second the same endpoint is found once for each model and wire', async () => {
  const { looked, endpoint, pass } = counting()
  const first = await endpoint('a/m', undefined)
  pass(999)
  assert.equal(await endpoint('a/m', undefined), first)
  await endpoint('a/m', 'openai-chat')
  await endpoint('b/m', undefined)
  assert.deepEqual(looked, ['a/m -', 'a/m openai-chat', 'b/m -'])
})

test('after a second, or if the clock was set back, it is looked up again', async () => {
  const { looked, endpoint, pass } = counting()
  await endpoint('a/m', undefined)
  pass(1000)
  await endpoint('a/m', undefined)
  pass(-500)
  await endpoint('a/m', undefined)
  assert.equal(looked.length, 3)
})

test('a failure is not remembered', async () => {
  const { looked, endpoint } = counting()
  await assert.rejects(endpoint('missing/m', undefined), /needs a key/)
  await assert.rejects(endpoint('missing/m', undefined), /needs a key/)
  assert.equal(looked.length, 2)
})
