import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkThinkingPrefix } from '../../../src/wires/anthropic-messages/thinking.ts'
import { turnOf, type Turn } from '../../../src/wires/shared/turns.ts'
import type { Item } from '../../../src/wires/anthropic-messages/types.ts'

const head = { system: [], tools: [] }
const item = (text: string): Item => ({ block: { type: 'text', text }, message: 0 })

function basisOf(...turns: [Turn<Item>['role'], string[]][]): string {
  const written = turns.map(([role, texts]) => turnOf(role, texts.map(item), ''))
  return checkThinkingPrefix(head, written, [{ role: 'user', parts: [] }]).basis
}

test('thinking is bound to the roles: the same text in other roles is another prefix', () => {
  assert.notEqual(basisOf(['user', ['a', 'b']]), basisOf(['user', ['a']], ['assistant', ['b']]))
  assert.notEqual(basisOf(['user', ['a']], ['assistant', ['b']]), basisOf(['assistant', ['a']], ['user', ['b']]))
})

test('neighbouring messages of one role are the same prefix as one message, as the API joins them', () => {
  assert.equal(basisOf(['user', ['a', 'b']]), basisOf(['user', ['a']], ['user', ['b']]))
  assert.equal(basisOf(['tool', ['a']], ['user', ['b']]), basisOf(['user', ['a', 'b']]))
})
