// A body as the prompt that caches compare: its segments, settings and marks.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Json } from '../../src/core/json.ts'
import { cacheOptions, chatPrompt, withEnd, markOf, segment, segmentTokens } from '../../src/wires/shared/prompt.ts'

describe('the prompt of a chat body', () => {
  test('has one segment for each tool, block and call, in order, and marks where messages end', () => {
    const { segments } = chatPrompt({
      tools: [{ name: 'look' }],
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'developer', content: [{ type: 'text', text: 'And kind.' }] },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'a' },
            { type: 'text', text: 'b' },
          ],
        },
        { role: 'assistant', content: null, tool_calls: [{ id: 'c' }], refusal: null, name: 'kim' },
        { role: 'assistant', content: '', tool_calls: [], audio: [] },
        'nonsense',
        { role: 'tool', content: 'done', tool_call_id: 'c' },
      ],
    })
    assert.deepEqual(
      segments.map(({ place, role, text, last }) => [place, text, last, text.startsWith(`${role} `)]),
      [
        ['tools', 'tools {"name":"look"}', true, true],
        ['system', 'system {"type":"text","text":"Be brief."}', true, true],
        ['system', 'developer {"type":"text","text":"And kind."}', true, true],
        ['messages', 'user {"type":"text","text":"a"}', false, true],
        ['messages', 'user {"type":"text","text":"b"}', true, true],
        ['messages', 'assistant {"name":"kim"}', false, true],
        ['messages', 'assistant {"id":"c"}', true, true],
        ['messages', 'tool {"tool_call_id":"c"}', false, true],
        ['messages', 'tool {"type":"text","text":"done"}', true, true],
      ],
    )
    assert.deepEqual(chatPrompt({}).segments, [])
    assert.deepEqual(withEnd([]), [])
  })

  test('depends on the settings that change what a model reads', () => {
    const plain = chatPrompt({}).settings
    assert.equal(plain, '[null,null,null,null]')
    for (const field of ['response_format', 'reasoning_effort', 'verbosity', 'service_tier']) {
      assert.notEqual(chatPrompt({ [field]: 'x' }).settings, plain, field)
    }
    assert.equal(chatPrompt({ temperature: 1 }).settings, plain)
  })

  test('has the cache options of the body, and only those of the right type', () => {
    const options = (given: Json) => cacheOptions({ prompt_cache_options: given })
    assert.deepEqual(options({ mode: 'explicit', ttl: '1h' }), { explicitOnly: true, ttl: '1h' })
    assert.deepEqual(options({ mode: 'auto', ttl: 3600 }), {})
    assert.deepEqual(options('explicit'), {})
    assert.deepEqual([markOf({ ttl: '1h' }), markOf({ ttl: 1 }), markOf({})], [{ ttl: '1h' }, {}, {}])
    assert.deepEqual([markOf('ephemeral'), markOf(undefined)], [undefined, undefined])
  })

  test('does not contain cache marks and empty fields, but knows where a mark is', () => {
    const marked = segment('messages', 'user', { text: 'a', cache_control: { ttl: '1h' }, x: null, y: [], z: [0] })
    assert.deepEqual(marked, {
      place: 'messages',
      role: 'user',
      text: 'user {"text":"a","z":[0]}',
      media: 0,
      last: false,
      mark: { ttl: '1h' },
    })
    assert.deepEqual(segment('messages', 'user', { prompt_cache_breakpoint: {} }).mark, {})
    assert.equal('mark' in segment('messages', 'user', { text: 'a' }), false)
    assert.equal('mark' in segment('messages', 'user', 'a'), false)
    assert.equal(segment('system', 'system', 'a').last, true)
  })

  test('counts a file once for each, and the same file the same way', () => {
    const file = 'A'.repeat(600)
    const one = segment('messages', 'user', { data: file, more: { data: file } })
    assert.equal(one.media, 2)
    assert.match(one.text, /^user \{"data":"sha256:[0-9a-f]{64}","more":\{"data":"sha256:[0-9a-f]{64}"\}\}$/)
    assert.equal(
      segmentTokens(one, (text) => text.length),
      one.text.length + 2 * 1600,
    )
  })
})
