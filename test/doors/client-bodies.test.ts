// Requests as unchanged clients sent them, at the doors, for providers of every wire: what the client's own provider would
// refuse is repaired, the target accepts every request, and the answer is one of the client's wire.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { doorOf } from '../../src/server/doors/door.ts'
import { clientBodies, noBodies } from '../client-bodies.ts'
import { serving } from '../server/serving.ts'

const models = [
  'anthropic/claude-opus-5',
  'openai/gpt-5.6',
  'google/gemini-3-flash-preview',
  'mistral/mistral-large-latest',
  'deepseek/deepseek-reasoner',
]

const operations = await Promise.all(
  clientBodies.map(({ url }) => doorOf('POST', new URL(url, 'http://127.0.0.1'), new Headers())),
)
const atDoors = clientBodies.filter((_, i) => operations[i]?.operation.do === 'reply')

describe('a recorded request', { skip: noBodies }, () => {
  test('most recorded requests are for a door', () => assert.ok(atDoors.length >= 10))

  for (const { name, url: path, body } of atDoors) {
    test(name, async (t) => {
      for (const model of models) {
        const { url, emulator } = await serving(t, { doorModel: { model, always: true } })
        const { model: asked, ...rest } = body
        const bare = typeof asked === 'string' ? { model: asked.split('/').at(-1) ?? asked } : {}
        const headers = { 'content-type': 'application/json' }
        const answer = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify({ ...bare, ...rest }) })
        const text = await answer.text()
        assert.equal(answer.status, 200, `${model}: ${text.slice(0, 500)}`)
        assert.doesNotMatch(text, /"type":"(?:error|response\.failed)"/, `${model}: ${text.slice(0, 500)}`)
        // What another account has sealed is refused once, and left out then.
        assert.equal(emulator.requests.at(-1)?.status, 200)
      }
    })
  }
})
