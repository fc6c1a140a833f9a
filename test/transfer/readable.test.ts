// Exports as HTML and Markdown.

import assert from 'node:assert/strict'
import test from 'node:test'
import type { Entry } from '../../src/core/log.ts'
import type { Message } from '../../src/core/message.ts'
import { toHtml } from '../../src/transfer/html.ts'
import { toMarkdown } from '../../src/transfer/markdown.ts'

const hostile = [
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '"><svg onload=alert(1)>',
  '[click](javascript:alert(1))',
  'javascript:alert(1)',
  'data:text/html,<script>alert(1)</script>',
  'https://example.org/"onmouseover="alert(1)',
  "https://example.org/'><script>",
  '</style><script>alert(1)</script>',
  '<!-- --><iframe src=//evil.example>',
  '\u202Etxt.exe',
  'vbscript:msgbox(1) file:///etc/passwd',
]

function entriesWith(text: string): Entry[] {
  const messages: Message[] = [
    { role: 'user', parts: [{ type: 'text', text }] },
    {
      role: 'assistant',
      parts: [
        { type: 'reasoning', text },
        { type: 'text', text },
        { type: 'tool-call', callId: 'c', name: text, input: { [text]: text } },
        { type: 'server-tool', name: text, input: text, output: text },
        { type: 'opaque', kind: text },
      ],
      native: [],
      origin: { protocol: 'x', provider: text, model: text },
      stop: { reason: 'interrupted' },
    },
    {
      role: 'tool',
      parts: [{ type: 'tool-result', callId: 'c', name: text, output: [{ type: 'text', text }], failed: true }],
    },
    {
      role: 'user',
      parts: [
        { type: 'media', mediaType: 'image/svg+xml', data: { kind: 'base64', base64: 'PHN2Zz4=' } },
        { type: 'media', mediaType: text, name: text, data: { kind: 'url', url: text } },
        { type: 'media', mediaType: 'image/png', data: { kind: 'base64', base64: `"><script>${text}` } },
      ],
    },
  ]
  return messages.map((message, depth) => ({
    id: `e${depth}`,
    conversationId: 'c',
    parentId: null,
    depth,
    message,
    at: text,
  }))
}

for (const text of hostile) {
  test(`the HTML file contains ${JSON.stringify(text)} as text only`, () => {
    const html = toHtml({ id: 'c', title: text }, entriesWith(text))
    const tags = [...html.matchAll(/<\/?([a-z0-9!-]+)([^>]*)>/gi)]
    const known = /^(!doctype|html|head|meta|title|style|body|h1|h2|article|time|div|pre|details|summary|p|a|img)$/i
    for (const [tag, name = '', rest = ''] of tags) {
      assert.match(name, known, tag)
      assert.doesNotMatch(rest, /\son\w+\s*=/i, tag)
      for (const [, address = ''] of rest.matchAll(/(?:href|src)="([^"]*)"/g))
        assert.match(address, /^(https?:\/\/|mailto:|data:image\/png;base64,)/)
    }
    assert.match(html, /Content-Security-Policy" content="default-src 'none'/)
    assert.ok(!html.includes('\u202E'))
  })
}

test('messages can be read in the HTML file, and URLs are links to themselves', () => {
  const html = toHtml(
    { id: 'c', title: 'A & B' },
    entriesWith('See https://example.org/a?b=1&c=2. Or mailto:ada@example.org!'),
  )
  assert.match(html, /<h1>A &amp; B<\/h1>/)
  assert.match(
    html,
    /<a rel="noopener noreferrer nofollow" href="https:\/\/example\.org\/a\?b=1&amp;c=2">https:\/\/example\.org\/a\?b=1&amp;c=2<\/a>\./,
  )
  assert.match(html, /href="mailto:ada@example\.org"/)
})

test('the Markdown file shows calls, results and how a reply ended, and no fence can be broken out of', () => {
  const text = 'before\n````\n# not a heading\n````\nafter'
  const markdown = toMarkdown({ id: 'c', title: 'One\ntwo [x](y)' }, entriesWith(text))
  assert.match(markdown, /^# One two \\\[x\\\]\(y\)\n/)
  assert.match(markdown, /\n`````\nbefore\n````/)
  assert.match(markdown, /## before .*\(interrupted\)/)
  assert.match(markdown, /\*\*← before .*\(failed\)\*\*/)
})
