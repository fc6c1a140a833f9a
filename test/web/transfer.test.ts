// Conversations in and out of the page.

import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { settled } from './site.ts'
import { ask, idOn, replies, seen, site, pageTest, title } from './page-test.ts'

const chatgpt = JSON.stringify([
  {
    title: 'A talk about otters',
    create_time: 1_700_000_000,
    current_node: 'b',
    mapping: {
      root: { id: 'root', parent: null, children: ['a'], message: null },
      a: {
        id: 'a',
        parent: 'root',
        children: ['b'],
        message: {
          id: 'a',
          author: { role: 'user' },
          create_time: 1_700_000_000,
          content: { content_type: 'text', parts: ['Do otters hold hands?'] },
        },
      },
      b: {
        id: 'b',
        parent: 'a',
        children: [],
        message: {
          id: 'b',
          author: { role: 'assistant' },
          create_time: 1_700_000_001,
          content: { content_type: 'text', parts: ['They do, while they sleep.'] },
          metadata: { model_slug: 'gpt-5.6' },
        },
      },
    },
  },
])

pageTest(
  'a file that is dropped on the list becomes a conversation, which is copied, compacted and carried on',
  async ({ page, context }) => {
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    const list = page.getByRole('navigation', { name: 'Conversations' })
    const data = await page.evaluateHandle(`(() => {
    const transfer = new DataTransfer()
    transfer.items.add(new File([${JSON.stringify(chatgpt)}], 'conversations.json', { type: 'application/json' }))
    return transfer
  })()`)
    await list.dispatchEvent('drop', { dataTransfer: data })
    await seen(title(page), 'A talk about otters')
    await seen(replies(page), 'while they sleep')
    await seen(page.locator('.doing'), '1 conversation imported')
    await seen(page.getByRole('button', { name: /Model:/ }), 'openai/gpt-5.6')

    const menu = page.getByRole('button', { name: 'This conversation', exact: true })
    await menu.click()
    await page.getByRole('menuitem', { name: 'Copy as Markdown' }).click()
    await seen(page.locator('.doing'), 'to the clipboard')
    assert.match(String(await page.evaluate('navigator.clipboard.readText()')), /Do otters hold hands\?/)
    await menu.click()
    await page.getByRole('menuitem', { name: 'Compact' }).click()
    await seen(page.locator('.doing'), 'There is too little to summarise')
  },
)

pageTest(
  'on this machine, sessions of coding agents are listed and imported, and a command leads back',
  async ({ page }) => {
    mkdirSync(join(site.home, '.claude', 'projects', '-work'), { recursive: true })
    const line = (value: object) => JSON.stringify({ sessionId: 's-1', cwd: '/work', version: '2.1.0', ...value })
    const at = '2026-11-01T10:00:00.000Z'
    writeFileSync(
      join(site.home, '.claude', 'projects', '-work', 's-1.jsonl'),
      `${line({ type: 'user', uuid: 'u1', parentUuid: null, timestamp: at, message: { role: 'user', content: 'Fix the flaky test' } })}
${line({ type: 'assistant', uuid: 'u2', parentUuid: 'u1', timestamp: at, message: { role: 'assistant', model: 'claude-opus-5', content: [{ type: 'text', text: 'It is fixed.' }] } })}
`,
    )
    await page.getByRole('button', { name: 'Import a conversation' }).first().click()
    const dialog = page.getByRole('dialog', { name: 'Import a conversation' })
    await dialog.getByRole('searchbox', { name: 'Search sessions' }).fill('flaky claude')
    await dialog.getByRole('button', { name: /Fix the flaky test/ }).click()
    await seen(replies(page), 'It is fixed.')
    const id = await idOn(page)
    await ask(page, 'Thank you')
    await settled(page)
    await page.getByRole('button', { name: 'This conversation', exact: true }).click()
    await page.getByRole('menuitem', { name: 'Continue in a coding agent' }).click()
    await page.getByRole('combobox', { name: 'Agent' }).selectOption('codex')
    await seen(page.getByRole('group', { name: 'Command' }), `synapse carry ${id} --to codex`)
  },
)
