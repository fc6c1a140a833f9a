// What is changed in a view before it is sent: search results as text, and the sentence about recall.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Json } from '../../src/core/json.ts'
import type { Part } from '../../src/core/message.ts'
import { mentionRecall } from '../../src/context/mention-recall.ts'
import { withSearchResultsAsText } from '../../src/context/search-results.ts'
import { wholeView } from '../../src/context/view.ts'
import { reply, user } from '../histories.ts'

describe('search results', () => {
  const block = (data: Json): Part => ({ type: 'opaque', kind: 'anthropic-messages/search_result', data })
  const shown = (data: Json) => {
    const part = withSearchResultsAsText(wholeView([user(block(data) as never)]), 'w').messages[0]?.parts[0]
    return part?.type === 'text' ? part.text : undefined
  }

  test('are their title, source and texts, as far as they have any', () => {
    const text = (value: Json) => ({ type: 'text', text: value })
    assert.equal(
      shown({ title: 'T', source: 'S', content: [text('a'), text(''), text(1), 'x', text('b')] }),
      'T\nS\na\nb',
    )
    assert.equal(shown({ source: 'S', content: 'c' }), 'S\nc')
    assert.equal(shown({ title: '' }), '')
    assert.equal(shown('x'), '')
  })

  test('are changed only elsewhere, only where they are, and once', () => {
    const found = user('a', block({ title: 'T' }) as never)
    const other: Part = { type: 'opaque', kind: 'anthropic-messages/other', data: {} }
    const view = wholeView([user('q', other), found, reply('r')], 5)
    const made = withSearchResultsAsText(view, 'w')
    assert.deepEqual(made.messages, [view.messages[0], user('a', 'T'), view.messages[2]])
    assert.deepEqual([made.messages[0] === view.messages[0], made.messages[2] === view.messages[2]], [true, true])
    assert.deepEqual(
      made.notes.map(({ at }) => at),
      ['messages[6]'],
    )
    assert.equal(withSearchResultsAsText(view, 'w').messages[1], made.messages[1])
    assert.equal(withSearchResultsAsText(view, 'anthropic-messages'), view)
    const none = wholeView([user('q'), reply('r')])
    assert.equal(withSearchResultsAsText(none, 'w'), none)
    const later = wholeView([...none.messages, found])
    assert.deepEqual(withSearchResultsAsText(later, 'w').messages[2], user('a', 'T'), 'after a list without any')
    assert.equal(withSearchResultsAsText(none, 'w'), none)
  })
})

test('the sentence about recall is part of the same message each time, and of none where nothing is left out', () => {
  const summary = user({ type: 'compaction', text: 'S' } as never)
  const view = wholeView([summary, reply('a'), user('q')])
  const made = mentionRecall(view, () => false)
  assert.match(JSON.stringify(made.messages[0]), /S\\n\\nThe tool `recall` finds/)
  assert.equal(mentionRecall(view, () => false).messages[0], made.messages[0])
  assert.deepEqual(made.messages.slice(1), view.messages.slice(1))
  const none = wholeView([user('q'), reply('a')])
  assert.equal(
    mentionRecall(none, () => false),
    none,
  )
  const kept = reply({ type: 'compaction', text: 'S', from: 0 })
  const native = wholeView([kept, user('q')])
  assert.equal(
    mentionRecall(native, () => false),
    native,
    'the provider’s own summary',
  )
  const two = wholeView([user({ type: 'compaction', text: 'S' } as never, 'and'), user('q')])
  assert.equal(
    mentionRecall(two, () => false),
    two,
  )
})
