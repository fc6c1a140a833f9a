import assert from 'node:assert/strict'
import test from 'node:test'
import { connectionMemory } from '../../src/server/doors/connection-memory.ts'

test('a connection remembers its last responses, however many it gets', () => {
  const memory = connectionMemory()
  for (let i = 0; i < 1000; i++) memory.remember(`resp_${i}`, { i })
  assert.deepEqual(memory.find('resp_999'), { i: 999 })
  assert.deepEqual(memory.find('resp_990'), { i: 990 })
  assert.equal(memory.find('resp_0'), undefined)
  memory.forget('resp_999')
  assert.equal(memory.find('resp_999'), undefined)
})
