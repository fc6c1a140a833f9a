// A client of another API at a front door, as the page shows it while it runs and afterwards.

import assert from 'node:assert/strict'
import OpenAI from 'openai'
import type { Locator, Page } from 'playwright-core'
import { eightyWords, listed, pageTest, replies, seen, site } from './page-test.ts'

/** The answer that is being streamed. */
const growing = (page: Page): Locator => page.locator('.is-live')

pageTest(
  "a client's conversation is in the list while it is answered, then with the answer, the client and its request",
  async ({ page }) => {
    const client = new OpenAI({ baseURL: `${site.url}/v1`, apiKey: 'unused', maxRetries: 0 })
    site.replies.push([{ type: 'text', text: eightyWords() }])
    site.hold(12)
    const stream = await client.chat.completions.create({
      model: 'anthropic/claude-opus-5',
      messages: [{ role: 'user', content: 'Tell me about tides' }],
      stream: true,
    })
    const row = listed(page, 'Tell me about tides')
    await seen(row, '· OpenAI · claude-opus-5')
    await row.click()
    await seen(page.getByRole('article', { name: 'You' }), 'Tell me about tides')
    // Its words so far, and nothing of what the provider holds back.
    await seen(growing(page), 'word1')
    assert.equal(await replies(page).count(), 0)
    site.release()
    let text = ''
    for await (const { choices } of stream) text += choices[0]?.delta.content ?? ''
    assert.equal(text, eightyWords())
    await seen(replies(page), 'word79')
    await page.getByText(/^via OpenAI/).waitFor()
    await replies(page).last().hover()
    await page.getByRole('button', { name: 'Show the request for this reply' }).last().click()
    await page.getByRole('button', { name: "Show the client's request alongside" }).click()
    await seen(page.getByText('What the client sent, unchanged.'), 'unchanged')
    assert.match(await page.locator('.subjects select').first().inputValue(), /^client /)
    site.hold(12)
    const next = client.chat.completions.create({
      model: 'anthropic/claude-opus-5',
      messages: [
        { role: 'user', content: 'Tell me about tides' },
        { role: 'assistant', content: text },
        { role: 'user', content: 'And about waves?' },
      ],
      stream: true,
    })
    await seen(page.getByRole('article', { name: 'You' }), 'And about waves?')
    await growing(page).waitFor()
    assert.equal(await replies(page).count(), 1)
    site.release()
    for await (const _ of await next);
    await replies(page).nth(1).waitFor()
    await growing(page).waitFor({ state: 'detached' })
  },
)

pageTest("a client's answer can be stopped on the page, and what had arrived stays", async ({ page }) => {
  const client = new OpenAI({ baseURL: `${site.url}/v1`, apiKey: 'unused', maxRetries: 0 })
  site.replies.push([{ type: 'text', text: eightyWords() }])
  site.hold(12)
  const stream = await client.chat.completions.create({
    model: 'anthropic/claude-opus-5',
    messages: [{ role: 'user', content: 'Tell me about currents' }],
    stream: true,
  })
  await listed(page, 'Tell me about currents').click()
  await seen(growing(page), 'word1')
  await page.getByRole('button', { name: 'Stop' }).click()
  await assert.rejects(async () => {
    for await (const _ of stream);
  })
  await seen(replies(page), 'word1')
  await growing(page).waitFor({ state: 'detached' })
})

pageTest(
  'the title and the buttons stay visible beside a long client name, and side calls are under their label',
  async ({ page }) => {
    const agent = `opencode/1.18.33-${'x'.repeat(120)} ai-sdk/openai (linux; x64)`
    const defaultHeaders = { 'user-agent': agent }
    const client = new OpenAI({ baseURL: `${site.url}/v1`, apiKey: 'unused', maxRetries: 0, defaultHeaders })
    const tools = [{ type: 'function' as const, function: { name: 'ls', parameters: { type: 'object' } } }]
    const messages = [{ role: 'user' as const, content: 'Tell me about harbours' }]
    const system = { role: 'system' as const, content: 'You are a title generator.' }
    site.replies.push([{ type: 'text', text: 'They are sheltered.' }], [{ type: 'text', text: 'Harbours' }])
    await client.chat.completions.create({ model: 'anthropic/claude-opus-5', messages, tools })
    const aside = [system, { role: 'user' as const, content: 'Name this: harbours' }]
    await client.chat.completions.create({ model: 'anthropic/claude-opus-5', messages: aside })
    await page.reload()
    await listed(page, 'Tell me about harbours').click()
    await page.setViewportSize({ width: 390, height: 800 })
    await page.getByText('via opencode/1.18.33').waitFor()
    assert.equal(await page.getByText('(linux; x64)').count(), 0)
    const title = await page.getByRole('heading', { name: 'Tell me about harbours' }).boundingBox()
    const inspector = await page.getByRole('button', { name: 'Inspector', exact: true }).boundingBox()
    assert.ok(title && title.width > 40 && inspector && inspector.x + inspector.width <= 390)
    await page.setViewportSize({ width: 1500, height: 900 })
    await page.getByRole('button', { name: 'side-call' }).click()
    await listed(page, 'Name this: harbours').waitFor()
    assert.equal(await listed(page, 'Tell me about harbours').count(), 0)
    await page.getByRole('button', { name: 'side-call' }).click()
    await listed(page, 'Tell me about harbours').waitFor()
    assert.equal(await listed(page, 'Name this: harbours').count(), 0)
  },
)

pageTest("a client's conversation continues on the page with another model", async ({ page }) => {
  const client = new OpenAI({ baseURL: `${site.url}/v1`, apiKey: 'unused', maxRetries: 0 })
  site.replies.push([{ type: 'text', text: 'They rise twice a day.' }])
  const messages = [{ role: 'user' as const, content: 'Tell me about spring tides' }]
  await client.chat.completions.create({ model: 'anthropic/claude-opus-5', messages })
  const row = listed(page, 'Tell me about spring tides')
  await row.click()
  await replies(page).last().waitFor()
  await page.keyboard.press('Control+m')
  const picker = page.getByRole('dialog', { name: 'Choose a model' })
  await picker.getByRole('combobox', { name: 'Find a model' }).fill('gpt-5.6')
  await picker.getByRole('button', { name: 'Switch' }).click()
  await seen(row, '· OpenAI · gpt-5.6')
})
