// The calls of server tools, and the sources of an answer, as text for other models.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Note } from '../../src/core/context.ts'
import type { Json } from '../../src/core/json.ts'
import type { Part } from '../../src/core/message.ts'
import { serverToolText, withSources } from '../../src/wires/shared/server-tool-text.ts'
import { reply } from '../histories.ts'

const callsAfter: Part[] = [{ type: 'tool-call', callId: 'c', name: 'look', input: {} }]

describe('a call of a server tool as text', () => {
  test('has its input and output as far as they are known, without what only its provider reads', () => {
    const text = (input: Json | undefined, output?: Json) =>
      serverToolText({
        type: 'server-tool',
        name: 'search',
        ...(input !== undefined && { input }),
        ...(output !== undefined && { output }),
      } as never)
    assert.equal(text(undefined), undefined)
    assert.equal(text({ q: 1 }), '[Tool Call] search {"q":1}')
    assert.equal(text(undefined, 'x'), '[Tool Call] search {}\n[Tool Result] search: "x"')
    const output = [
      { url: 'a', encrypted_content: 'zz', more: { encrypted_index: 1, kept: null, search_suggestions: '<b>' } },
      2,
    ]
    assert.equal(text({}, output), '[Tool Call] search {}\n[Tool Result] search: [{"url":"a","more":{"kept":null}},2]')
  })

  test('the sources of an answer are listed once each after its last text, with their titles', () => {
    const cited = (...citations: Json[]) => ({ type: 'text', text: 'Yes.', citations }) as Part
    const listed = (...parts: Part[]) => {
      const notes: Note[] = []
      const given = reply(...parts)
      const made = withSources(given, 'messages[1]', notes)
      return { same: made === given, texts: made.parts.map((part) => ('text' in part ? part.text : '')), notes }
    }
    const sources = (...citations: Json[]) =>
      listed(cited(...citations))
        .texts[0]?.split('[Sources]\n')[1]
        ?.split('\n')
    assert.deepEqual(sources({ url: 'u', title: 'T' }), ['- T: u'])
    assert.deepEqual(sources({ url: 'u' }, { url: 'u', title: 'T' }, { url: 'u' }), ['- T: u'], 'a title is kept')
    assert.deepEqual(sources({ uri: 'u', url: ' ' }), ['- u'])
    assert.deepEqual(sources('a  b\nc'), ['- a b c'])
    assert.deepEqual(sources({ title: 'outer', web: { uri: 'u' } }), ['- outer: u'])
    assert.deepEqual(sources({ title: 'outer', web: { uri: 'u', title: 'own' } }), ['- own: u'])
    assert.deepEqual(sources({ document_title: 'D', page: 3 }, { filename: 'F' }, { file_name: 'G' }), [
      '- D',
      '- F',
      '- G',
    ])
    assert.deepEqual(sources({ list: [{ url: 'a' }, { title: 'b' }] }), ['- a', '- b'])
    assert.deepEqual(sources({ title: 'b', list: [1, null] }), ['- b'])

    const two = listed(cited({ url: 'u' }), { type: 'text', text: 'End.' }, ...callsAfter)
    assert.deepEqual(two.texts, ['Yes.', 'End.\n\n[Sources]\n- u', ''])
    assert.equal(two.notes[0]?.kind, 'changed')
    const nothing = listed(cited({ page: 1 }, [], 3))
    assert.deepEqual([nothing.same, nothing.notes[0]?.kind], [true, 'dropped'])
    for (const none of [listed(cited()), listed({ type: 'text', text: 'a' })]) {
      assert.deepEqual([none.same, none.notes], [true, []])
    }
  })
})
