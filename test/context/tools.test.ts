// Tools as unchecked sources may provide them: two of one name, and text that is not Unicode.

import assert from 'node:assert/strict'
import test from 'node:test'
import { prepare, refuse } from '../../src/runtime/prepare.ts'
import { user } from '../histories.ts'
import { everyTarget } from '../targets.ts'

const input = { type: 'object', properties: {} }
const tools = [
  { name: 'clock', description: 'the first', input },
  { name: 'add', description: 'another', input },
  { name: 'clock', description: 'the second', input },
]

for (const target of everyTarget) {
  test(`of two tools with one name the first is sent to ${target.provider}/${target.model} on ${target.protocol}`, () => {
    const { body, notes } = prepare({ ...target, messages: [user('Go.')], tools })
    assert.deepEqual(refuse(target.protocol, body, { provider: target.provider, model: target.model }), [])
    const sent = JSON.stringify(body)
    assert.match(sent, /the first.*another/)
    assert.doesNotMatch(sent, /the second/)
    assert.deepEqual(
      notes.filter(({ kind }) => kind === 'dropped').map(({ what }) => what),
      ['a second tool "clock"'],
    )
  })
}

const half = '\ud83d'
const broken = [
  {
    name: 'clock',
    description: `the time ${half}`,
    input: { type: 'object', properties: { zone: { type: 'string', description: half } } },
  },
]

for (const target of everyTarget) {
  test(`half a character in a tool is sent to ${target.provider}/${target.model} on ${target.protocol} as U+FFFD`, () => {
    const { body, notes } = prepare({ ...target, messages: [user('Go.')], tools: broken })
    assert.deepEqual(refuse(target.protocol, body, { provider: target.provider, model: target.model }), [])
    const sent = JSON.stringify(body)
    assert.doesNotMatch(sent, /\\ud83d/)
    assert.match(sent, /the time \ufffd/)
    assert.ok(notes.some(({ kind, at }) => kind === 'changed' && at === 'tools[0]'))
  })
}
