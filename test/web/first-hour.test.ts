// What a new user meets in the first hour, on the shipped program and in a real browser.

import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { noBrowser } from './browser.ts'
import { settled } from './site.ts'
import { openStock, type Stock } from './stock.ts'
import { ask, browser, message, replies } from './page-test.ts'

let stock: Stock

before(async () => {
  stock = await openStock()
})
after(async () => {
  await stock.close()
})

function first(name: string, tell: (page: Page) => Promise<void>, viewport = { width: 1280, height: 800 }): void {
  test(name, async (t) => {
    if (!browser) return t.skip(noBrowser)
    const context = await browser.newContext({ viewport, reducedMotion: 'reduce' })
    const page = await context.newPage()
    page.setDefaultTimeout(30_000)
    const errors: string[] = []
    page.on('pageerror', (error) => errors.push(error.message))
    try {
      await page.goto(stock.url)
      await message(page).waitFor()
      await tell(page)
      assert.deepEqual(errors, [])
    } finally {
      await context.close()
    }
  })
}

first('every suggestion is answered without a failed tool, and opens what it speaks of', async (page) => {
  const inspector = page.getByRole('complementary', { name: 'Inspector' })
  const picker = page.getByRole('dialog', { name: 'Choose a model' })
  assert.equal(await inspector.count(), 0, 'nothing was asked, so the inspector has nothing to show')
  assert.ok(await page.evaluate('document.documentElement.scrollHeight <= innerHeight'), 'the page itself scrolls')
  const suggestions = page.getByRole('list', { name: 'Suggestions' }).getByRole('button')
  await suggestions.first().waitFor()
  const labels = await suggestions.allTextContents()
  // What the first message costs is known before it is sent, and what is sent with it can be seen.
  const estimate = page.locator('.next-cost').getByText(/≈ \d+ tokens, [$\d]/)
  await message(page).fill('How much is this?')
  await estimate.waitFor()
  await page.getByRole('button', { name: 'Inspector' }).click()
  await inspector.getByText('How much is this?').first().waitFor()
  await page.getByRole('button', { name: 'Close the inspector' }).click()
  await message(page).fill('')
  await estimate.waitFor({ state: 'detached' })
  assert.ok(labels.length > 1)
  for (const label of labels) {
    await page.getByRole('button', { name: 'New conversation' }).click()
    await suggestions.filter({ hasText: label }).click()
    await replies(page).first().waitFor()
    await settled(page)
    assert.equal(await page.locator('.tool.failed, .notice.failed').count(), 0, label)
    assert.doesNotMatch((await replies(page).allTextContents()).join('\n'), /failed|Error/, label)
    if (!/switch/.test(label)) continue
    await picker.waitFor()
    // Typing selects, and Enter confirms it; an unknown provider is not offered.
    await page.keyboard.type('no-such-model')
    assert.ok(await picker.getByRole('button', { name: 'Switch' }).isDisabled())
    await picker.getByRole('combobox').fill('claude-opus-5')
    await picker.getByRole('heading', { name: 'anthropic/claude-opus-5' }).waitFor()
    await page.keyboard.press('Enter')
    await ask(page, 'What did I say first?')
    await replies(page).filter({ hasText: 'What is 17 + 25?' }).waitFor()
    await settled(page)
  }
  await inspector.waitFor()
  await replies(page)
    .last()
    .getByRole('button', { name: /\d+ in, \d+ out/ })
    .click()
  await inspector.getByText('Cache, reported').waitFor()
  await message(page).fill('And how much is this?')
  await estimate.waitFor()
  await inspector.getByLabel('Exact body').check()
  const messages = inspector.getByRole('group', { name: 'Body' }).locator('summary', { hasText: 'item' }).first()
  await messages.click()
  await inspector
    .getByText(/^"(input|messages)": \[ \d+ items? \]/)
    .first()
    .waitFor()
})

const file = (name: string, mimeType: string, content: string) => ({ name, mimeType, buffer: Buffer.from(content) })

first('several files that are chosen at once are all attached, and text reaches the model', async (page) => {
  await page
    .locator('input[type=file]')
    .setInputFiles([
      file('notes.txt', 'text/plain', 'alpha'),
      file('conf.json', 'application/json', '{"beta":1}'),
      file('deploy.yaml', '', 'gamma: 2'),
    ])
  const chips = page.getByRole('list', { name: 'Attached files' }).getByRole('listitem')
  await chips.nth(2).waitFor()
  assert.equal(await chips.count(), 3)
  assert.equal(await page.getByText('will not see this').count(), 0)
  const sent = page.waitForRequest((request) => request.url().endsWith('/messages'))
  await ask(page, 'What do they say?')
  const { parts } = (await sent).postDataJSON() as { parts: unknown[] }
  assert.equal(parts.length, 4)
  await replies(page).first().waitFor()
  await settled(page)
  const id = new URL(page.url()).pathname.split('/').at(-1) ?? ''
  const models = ['anthropic/claude-opus-5', 'mistral/mistral-large-latest', 'deepseek/deepseek-chat', 'ollama/qwen3']
  const answer = await page.request.post(`${stock.url}/api/conversations/${id}/prepare`, {
    data: { targets: models.map((model) => ({ model })) },
  })
  const { items } = (await answer.json()) as { items: { model: string; body: unknown }[] }
  assert.equal(items.length, models.length)
  for (const { model, body } of items) {
    const text = JSON.stringify(body)
    for (const content of ['alpha', 'beta', 'gamma: 2']) assert.match(text, new RegExp(content), model)
    assert.doesNotMatch(text, /not shown/, model)
  }
  // What is attached next counts in the estimate before it is sent.
  await page
    .locator('input[type=file]')
    .setInputFiles([file('long.txt', 'text/plain', 'one two three '.repeat(20_000))])
  await page
    .locator('.next-cost')
    .getByText(/≈ \d\d(\.\d)?K tokens/)
    .waitFor()
})

first('a file that the model cannot see is marked before it is sent', async (page) => {
  await page.locator('input[type=file]').setInputFiles([file('song.mp3', 'audio/mpeg', 'ID3\u0000\u0001')])
  await page.getByText('will not see this').waitFor()
})

first('a message that is sent while scrolled up comes into view, and so does the way back to the end', async (page) => {
  for (let i = 0; i < 6; i++) {
    await ask(page, `Number ${i}: ${'long words '.repeat(40)}`)
    await settled(page)
  }
  await page.locator('.rows-scroller').evaluate((box) => (box.scrollTop = 0))
  const toEnd = page.getByRole('button', { name: 'Jump to latest' })
  await toEnd.click()
  await toEnd.waitFor({ state: 'detached' })
  await page.locator('.rows-scroller').evaluate((box) => (box.scrollTop = 0))
  await toEnd.waitFor()
  await ask(page, 'Can this be seen?')
  const row = page.getByRole('article', { name: 'You' }).filter({ hasText: 'Can this be seen?' })
  const view = await page.locator('.rows-scroller').boundingBox()
  const box = await row.boundingBox()
  assert.ok(view && box && box.y + box.height > view.y && box.y < view.y + view.height)
  await settled(page)
})

first('what is drawn or asked for in the moment of scrolling does not undo it, and is not lost', async (page) => {
  for (let i = 0; i < 6; i++) {
    await ask(page, `Number ${i}: ${'long words '.repeat(40)}`)
    await settled(page)
  }
  // What is done here comes before the browser sends the event for the scrolling.
  const scrolled = (to: number, next: string) =>
    page.evaluate<{ top: number; end: number }>(`(async () => {
      const box = document.querySelector('.rows-scroller')
      box.scrollTop = ${to}
      ${next}
      for (let frame = 0; frame < 3; frame++) await new Promise(requestAnimationFrame)
      return { top: box.scrollTop, end: box.scrollHeight - box.clientHeight }
    })()`)
  await page.locator('.row').last().focus()
  const home = await scrolled(
    600,
    `document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'Home', bubbles: true }))`,
  )
  assert.equal(home.top, 0, 'Home')
  // What is dragged over the list draws it again.
  const redraw = `box.dispatchEvent(new Event('dragover', { bubbles: true }))`
  // Rows that are measured only now may move it a little.
  const down = await scrolled(600, redraw)
  assert.ok(down.top > 400, `down: ${down.top}`)
  const last = await scrolled(300, `document.querySelector('.to-end').click()`)
  assert.ok(last.end - last.top < 2, `Jump to latest: ${last.top} of ${last.end}`)
  assert.equal((await scrolled(0, redraw)).top, 0, 'up')
})

first(
  'on a phone the first screen is the conversation, also after the inspector was open',
  async (page) => {
    assert.equal(await page.getByRole('complementary').count(), 0)
    await message(page).click()
    await page.getByRole('button', { name: 'Inspector' }).click()
    await page.getByRole('complementary').waitFor()
    await page.reload()
    await message(page).click()
    assert.equal(await page.getByRole('complementary').count(), 0)
  },
  { width: 390, height: 844 },
)

first('formulas, tables and right-to-left text are shown as they are meant', async (page) => {
  const said = [
    'Inline \\(a^2 + b_1\\) and $x_1*y_1*z$ for $5 and $10.',
    '',
    '$$\\int_0^1 x\\,dx$$',
    '',
    '| Provider | Price |',
    '| :-- | --: |',
    '| Anthropic | 200 |',
    '',
    'مرحبا بالعالم.',
    '',
    '- [x] done',
    '',
    '```ts',
    `const words = '${'long '.repeat(60)}'`,
    '```',
  ].join('\n')
  const thought = { type: 'reasoning', text: 'Hm.', durationMs: 12_300 }
  await page.route('**/api/conversations/*/entries*', async (route) => {
    const answer = await route.fetch()
    const body = (await answer.json()) as { items: { message: { role: string; parts: unknown[] } }[] }
    for (const { message: one } of body.items)
      if (one.role === 'assistant') one.parts = [thought, { type: 'text', text: said }]
    await route.fulfill({ response: answer, json: body })
  })
  await ask(page, 'Hello')
  await replies(page).first().waitFor()
  await settled(page)
  await page.reload()
  const text = page.locator('.markdown').filter({ hasText: 'Anthropic' })
  await text.waitFor()
  await text.locator('.formula.block math').waitFor()
  await page.getByText('Thought for 12.3 s').waitFor()
  assert.deepEqual(await text.locator('p .formula').evaluateAll((all) => all.map((one) => one.getAttribute('title'))), [
    'a^2 + b_1',
    'x_1*y_1*z',
  ])
  assert.equal(await text.locator('p .formula math msup').count(), 1)
  assert.match((await text.textContent()) ?? '', /for \$5 and \$10\./)
  assert.match((await text.locator('.formula.block math').textContent()) ?? '', /∫/)
  const style = (selector: string, property: string) =>
    text
      .locator(selector)
      .first()
      .evaluate((box, name) => box.ownerDocument.defaultView?.getComputedStyle(box).getPropertyValue(name), property)
  assert.equal(await style('td', 'overflow-wrap'), 'normal')
  assert.match((await style('td:nth-child(2)', 'text-align')) ?? '', /right$/)
  assert.equal(await style('p[dir=auto]:nth-of-type(2)', 'direction'), 'rtl')
  assert.equal(await style('li.task', 'list-style-type'), 'none')
  const isCut = () => text.locator('pre').evaluate((box) => box.scrollWidth > box.clientWidth)
  assert.ok(await isCut())
  await text.getByRole('button', { name: 'Wrap' }).click()
  await text.locator('pre.wraps').waitFor()
  assert.ok(!(await isCut()))
})

first('a named prompt is offered after a slash, asks for its variables, and is sent filled in', async (page) => {
  const folder = join(stock.home, '.config', 'synapse', 'prompts')
  mkdirSync(folder, { recursive: true })
  writeFileSync(
    join(folder, 'review.md'),
    '# Reviews code.\n\nReview this {{language}} code, {{tone:-politely}}:\n\n{{input}}\n',
  )
  await message(page).click()
  await page.keyboard.type('/')
  await page.getByRole('option', { name: 'Reviews code.' }).waitFor()
  await page.keyboard.type('rev')
  await page.keyboard.press('Enter')
  await page.getByRole('dialog', { name: 'Prompt review' }).waitFor()
  await page.keyboard.type('Rust')
  await page.getByLabel('Text').fill('let x = 1')
  await page.getByRole('button', { name: 'Use', exact: true }).click()
  await page.locator('#message:focus').waitFor()
  assert.equal(await message(page).inputValue(), 'Review this Rust code, politely:\n\nlet x = 1')
  await page.keyboard.press('Enter')
  await replies(page).filter({ hasText: 'Review this Rust code' }).waitFor()
  await settled(page)
  await message(page).fill('/review language=Go tone="in a word" x := 1')
  await page.keyboard.press('Enter')
  await replies(page).filter({ hasText: 'Review this Go code, in a word' }).waitFor()
})

first('a server that is gone is noticed, and that it is back too', async (page) => {
  await stock.kill()
  await page.getByText('Connection to the server lost').waitFor()
  await page.getByRole('button', { name: 'Inspector' }).click()
  await page.getByRole('button', { name: 'Close the inspector' }).click()
  await stock.restart()
  await page.getByText('Connection to the server lost').waitFor({ state: 'detached' })
  await ask(page, 'Are you there?')
  await replies(page).first().waitFor()
})
