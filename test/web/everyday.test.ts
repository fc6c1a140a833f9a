// Keys and small things of every day.

import assert from 'node:assert/strict'
import { settled } from './site.ts'
import { ask, eightyWords, message, replies, seen, site, pageTest, title } from './page-test.ts'

pageTest('Escape stops an answer, and the partial reply is saved', async ({ page }) => {
  site.replies.push([{ type: 'text', text: eightyWords() }])
  site.hold(12)
  await ask(page, 'Tell me much')
  await seen(page.getByRole('article', { name: 'Answer, coming' }), 'word3')
  await page.keyboard.press('Escape')
  await seen(page.locator('.notice'), 'Stopped.')
  site.release()
  await settled(page)
})

pageTest('the up arrow in the empty field edits the last message', async ({ page }) => {
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

pageTest('Control and K, some words and Enter open the first result', async ({ page }) => {
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

pageTest('a conversation is exported as Markdown, and temperature and output limit are sent', async ({ page }) => {
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

pageTest(
  'a message that is written during an answer waits for its end, and the models used last come first',
  async ({ page }) => {
    site.replies.push([{ type: 'text', text: eightyWords() }], [{ type: 'text', text: 'Second answer' }])
    site.hold(12)
    await ask(page, 'Tell me much')
    await seen(page.getByRole('article', { name: 'Answer, coming' }), 'word3')
    await message(page).fill('And then?')
    await message(page).press('Enter')
    await seen(page.getByRole('list', { name: 'Queued messages' }), 'sent when this answer is done')
    assert.equal(await message(page).inputValue(), '')
    site.release()
    await seen(replies(page), 'Second answer')
    await settled(page)
    assert.equal(await page.getByRole('list', { name: 'Queued messages' }).count(), 0)

    await page.keyboard.press('Control+m')
    const picker = page.getByRole('dialog', { name: 'Choose a model' })
    await picker.getByRole('combobox', { name: 'Find a model' }).fill('gpt-5.6')
    await picker
      .getByRole('option', { name: /^gpt-5\.6(?!-)/ })
      .first()
      .click()
    await seen(
      picker.getByRole('list', { name: 'About this model' }),
      /tokens of context.*in,.*out per million.*reads text, image/s,
    )
    await picker.getByRole('button', { name: 'Add to favourites' }).click()
    await picker.getByRole('button', { name: 'Switch' }).click()
    await page.keyboard.press('Control+m')
    await seen(picker.getByRole('group', { name: 'Favourites' }), 'gpt-5.6')
    await page.keyboard.press('Escape')
  },
)

pageTest(
  'a fork shows where the replies went, a conversation is pinned, and the pieces add up with an image',
  async ({ page }) => {
    await ask(page, 'First words')
    await replies(page).first().waitFor()
    await settled(page)
    await ask(page, 'Second words')
    await seen(page.getByRole('feed'), 'Second words')
    await settled(page)
    await replies(page).first().hover()
    await replies(page).first().getByRole('button', { name: 'Fork from here' }).click()
    const bar = page.getByRole('status').filter({ hasText: 'The next message starts a new branch here' })
    await bar.getByRole('button', { name: 'Show it' }).click()
    await seen(page.getByRole('article', { name: 'You' }), 'Second words')

    await page.getByRole('button', { name: 'This conversation', exact: true }).click()
    await page.getByRole('menuitem', { name: 'Pin' }).click()
    await seen(page.locator('.day-group'), 'Pinned')
    await page.reload()
    await seen(page.locator('.day-group').first(), 'Pinned')
    assert.equal(await page.locator('.chat-head .label').count(), 0, 'the label of a pin is not shown')

    // 400 × 300 pixels are about 160 tokens: not the thousands that its bytes would be as text.
    const png = Buffer.concat([
      Buffer.from('89504e470d0a1a0a0000000d49484452000001900000012c0806000000', 'hex'),
      Buffer.alloc(60_000, 7),
    ])
    await page.setInputFiles('input[type=file]', { name: 'photo.png', mimeType: 'image/png', buffer: png })
    await ask(page, 'Look at this')
    await seen(replies(page).last(), /./)
    await settled(page)
    const inspector = page.getByRole('complementary', { name: 'Inspector' })
    await seen(inspector.locator('.brief'), /^clock: Tells the current time/)
    await seen(inspector.locator('.brief'), /model: claude-opus-5/)
    const tool = inspector.locator('.piece').filter({ hasText: 'tools[0]' }).locator('.weight').first()
    await seen(tool, /[1-9]\d* tok/)
  },
)
