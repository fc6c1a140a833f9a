// A long conversation whose messages are all sent: the page loads and draws a part of it at a time.

import assert from 'node:assert/strict'
import type { Page, Response } from 'playwright-core'
import type { Message } from '../../src/core/message.ts'
import { pageTest, seen, site } from './page-test.ts'

const most = { elements: 5000, bytes: 1_500_000 }

pageTest('the inspector of a long request loads and draws a part of it, and more on request', async ({ page }) => {
  const length = 5000
  const id = await longConversation(length)
  const sizes: Promise<number>[] = []
  const weigh = (response: Response) => {
    if (/\/(inspect|tree|entries)/.test(response.url())) sizes.push(response.body().then((body) => body.length))
  }
  page.on('response', weigh)
  await page.goto(`${site.url}/c/${id}`)
  await page.getByRole('button', { name: 'Inspector', exact: true }).click()
  await seen(page.locator('.band'), `Note ${length - 1}`)
  await page.locator(`[aria-setsize="${length}"]`).first().waitFor()
  assert.ok((await page.locator('*').count()) < most.elements)
  const titles = await titlesOn(page)
  assert.deepEqual([titles[0], titles[1], titles[2], titles.at(-2)], ['Settings', 'Tools', '#1', `#${length}`])

  const more = page.getByRole('button', { name: /more lines hidden/ })
  await page.locator('.inspector-body').evaluate((body) => body.scrollTo(0, 0))
  for (let shown = titles.length; shown < 1000; shown += 200) {
    await more.click()
    await page
      .locator('.band')
      .nth(shown + 199)
      .waitFor({ state: 'attached' })
  }
  const places = (await titlesOn(page)).flatMap((title) => (title.startsWith('#') ? [Number(title.slice(1))] : []))
  const hidden = Number((await more.innerText()).replaceAll(/\D/g, ''))
  const start = places.findIndex((place, i) => place !== i + 1)
  assert.equal((places[start] ?? 0) - start - 1, hidden)
  assert.deepEqual(
    places.slice(start),
    Array.from({ length: length + 1 - start - hidden }, (_, i) => start + hidden + i + 1),
  )

  await page.getByLabel('Exact body').check()
  await page.getByRole('group', { name: 'Body' }).locator('summary', { hasText: '5,001 items' }).click()
  await page.getByRole('button', { name: /more items hidden/ }).waitFor()
  assert.ok((await page.locator('*').count()) < most.elements)
  // The next test uses the same page.
  page.off('response', weigh)
  for (const size of await Promise.all(sizes)) assert.ok(size < most.bytes, `an answer of ${size} bytes`)
})

pageTest('entries too long for one answer of the server are loaded with several', async ({ page }) => {
  const { id } = await site.store.createConversation('local', { title: 'Large results' })
  const origin = { protocol: 'elsewhere', provider: 'openai', model: 'gpt-5.6' }
  const messages = Array.from({ length: 6 }, (_, i): Message[] => [
    { role: 'user', parts: [{ type: 'text', text: `Question ${i}` }] },
    {
      role: 'assistant',
      parts: [{ type: 'tool-call', callId: `call-${i}`, name: 'read', input: {} }],
      native: [],
      origin,
      stop: { reason: 'tool-calls' },
    },
    {
      role: 'tool',
      parts: [
        {
          type: 'tool-result',
          callId: `call-${i}`,
          name: 'read',
          output: [{ type: 'text', text: 'x'.repeat(1_800_000) }],
        },
      ],
    },
  ])
  await site.store.appendAll(
    'local',
    id,
    messages.flat().map((message) => ({ message })),
  )
  let answers = 0
  const count = (response: Response) => void (/\/entries\?/.test(response.url()) && answers++)
  page.on('response', count)
  await page.goto(`${site.url}/c/${id}`)
  await page.getByText('Question 5', { exact: true }).waitFor()
  await page.locator('.row').last().focus()
  await page.keyboard.press('Home')
  await page.getByText('Question 0', { exact: true }).waitFor()
  page.off('response', count)
  assert.ok(answers > 1, `${answers} answers`)
})

async function titlesOn(page: Page): Promise<string[]> {
  return page.locator('.band-title').allInnerTexts()
}

async function longConversation(length: number): Promise<string> {
  const settings = { model: 'openai/large-model', protocol: 'openai-chat', policy: 'full' }
  const { id } = await site.store.createConversation('local', { title: 'Long', settings })
  const origin = { protocol: 'openai-chat', provider: 'openai', model: 'large-model' } as const
  const messages = Array.from({ length }, (_, i): Message => {
    const parts = [{ type: 'text' as const, text: `Note ${i}` }]
    if (i % 2 === 0) return { role: 'user', parts }
    return { role: 'assistant', parts, native: [], origin, stop: { reason: 'done' } }
  })
  await site.store.appendAll(
    'local',
    id,
    messages.map((message) => ({ message })),
  )
  return id
}
