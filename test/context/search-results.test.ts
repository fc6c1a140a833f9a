// Search results that a user gave to Anthropic keep their words everywhere.

import assert from 'node:assert/strict'
import test from 'node:test'
import { prepare, readTranscript } from '../../src/index.ts'
import { everyTarget } from '../targets.ts'

const block = {
  type: 'search_result',
  source: 'https://example.com/a',
  title: 'On tides',
  content: [{ type: 'text', text: 'The moon pulls the sea.' }],
}
const { messages } = readTranscript(
  JSON.stringify({
    model: 'claude-opus-5',
    messages: [{ role: 'user', content: [block, { type: 'text', text: 'Why?' }] }],
  }),
)

for (const target of everyTarget) {
  test(`the text of a search result reaches ${target.provider}/${target.model} on ${target.protocol}`, () => {
    const { body, notes } = prepare({ ...target, messages })
    const sent = JSON.stringify(body)
    for (const words of ['On tides', 'https://example.com/a', 'The moon pulls the sea.'])
      assert.ok(sent.includes(words))
    const isOwn = target.protocol === 'anthropic-messages'
    assert.equal(sent.includes('search_result'), isOwn)
    assert.equal(
      notes.some((note) => note.what === 'search results to text'),
      !isOwn,
    )
  })
}
