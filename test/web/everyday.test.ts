// Keys and small things of every day.

import assert from 'node:assert/strict'
import { settled } from './site.ts'
import { ask, eightyWords, message, replies, seen, site, story, title } from './story.ts'

story('Escape stops an answer, and what came of it is kept', async ({ page }) => {
  site.says.push([{ type: 'text', text: eightyWords() }])
  site.hold(12)
  await ask(page, 'Tell me much')
  await seen(page.getByRole('article', { name: 'Answer, coming' }), 'word3')
  await page.keyboard.press('Escape')
  await seen(page.locator('.notice'), 'Stopped.')
  site.flow()
  await settled(page)
})

story('the up arrow in the empty field edits the last message', async ({ page }) => {
  await ask(page, 'First words')
  await replies(page).first().waitFor()
  await settled(page)
  await message(page).focus()
  await page.keyboard.press('ArrowUp')
  const editor = page.getByRole('textbox', { name: 'Edited message' })
  await editor.waitFor()
  assert.equal(await editor.inputValue(), 'First words')
  await page.keyboard.press('Escape')
  await editor.waitFor({ state: 'detached' })
})

story('Control and K, some words and Enter open the first result', async ({ page }) => {
  const { id } = await site.store.createConversation('local', { title: 'About quokkas', at: '2023-12-19T10:00:00Z' })
  const said = { role: 'user' as const, parts: [{ type: 'text' as const, text: 'Hello' }] }
  await site.store.appendAll('local', id, [{ message: said, at: '2023-12-19T10:00:00Z' }])
  await page.reload()
  await seen(page.locator('.day-group'), '2023')
  await page.keyboard.press('Control+k')
  await page.keyboard.type('quokkas')
  await seen(page.getByRole('list', { name: 'Search results' }), 'title')
  await page.keyboard.press('Enter')
  await seen(title(page), 'About quokkas')
})

story('a conversation is exported as Markdown, and temperature and output limit are sent', async ({ page }) => {
  await page.getByRole('button', { name: 'Settings of this conversation' }).click()
  await page.getByLabel('Temperature').fill('0.4')
  await page.getByLabel('Output limit, in tokens').fill('900')
  await page.getByRole('button', { name: 'Save' }).click()
  await ask(page, 'Hello there')
  await replies(page).first().waitFor()
  await settled(page)
  const { items } = await site.store.exchanges('local', new URL(page.url()).pathname.split('/').at(-1) ?? '')
  const body = await site.store.blob('local', items[0]?.bodySha256 ?? '')
  assert.match(Buffer.from(body ?? []).toString(), /"max_tokens":900/)
  await page.getByRole('button', { name: 'This conversation', exact: true }).click()
  const download = page.waitForEvent('download')
  await page.getByRole('menuitem', { name: 'Export as Markdown' }).click()
  assert.match((await download).suggestedFilename(), /\.md$/)
})
