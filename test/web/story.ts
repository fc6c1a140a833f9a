// Stories in a real browser, on the real server: what they are told with. The first import opens both, for one file.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Browser, Locator, Page } from 'playwright-core'
import type { JsonObject } from '../../src/core/json.ts'
import type { Message } from '../../src/core/message.ts'
import { noBrowser, openBrowser } from './browser.ts'
import { openSite, say, visit, type Site, type Visitor } from './site.ts'

export let browser: Browser | undefined
export let site: Site

before(async () => {
  browser = await openBrowser()
  site = await openSite()
})
after(async () => {
  await browser?.close()
  await site.close()
})

/** A page of its own for each test, which must end without errors and without having asked anybody else. */
export function story(name: string, tell: (visitor: Visitor) => Promise<void>): void {
  test(name, async (t) => {
    if (!browser) return t.skip(noBrowser)
    const visitor = await visit(browser, site)
    visitor.page.setDefaultTimeout(30_000)
    try {
      await tell(visitor)
      assert.deepEqual(visitor.errors, [])
      assert.deepEqual(visitor.strayed, [])
    } finally {
      site.says.length = 0
      site.flow()
      await visitor.context.close()
    }
  })
}

export const replies = (page: Page): Locator => page.getByRole('article', { name: /^Reply from/ })
export const message = (page: Page): Locator => page.getByRole('textbox', { name: 'Message' })

/** A conversation has its address a moment after it was begun. */
export async function idOn(page: Page): Promise<string> {
  await page.waitForURL(/\/c\//)
  return new URL(page.url()).pathname.split('/').at(-1) ?? ''
}

/** Before it is shown nothing is being answered yet, and `settled` would be true too early. */
export async function ask(page: Page, words: string): Promise<void> {
  await say(page, words)
  await seen(page.getByRole('article', { name: 'You' }), words)
}

export async function seen(where: Locator, words: string | RegExp): Promise<void> {
  await where.filter({ hasText: words }).first().waitFor()
}

export const title = (page: Page): Locator => page.getByRole('heading', { level: 1 })
export const listed = (page: Page, name: string): Locator =>
  page.getByRole('navigation', { name: 'Conversations' }).getByRole('link', { name })

/** A conversation that was there before, with one message. */
export async function kept(name: string, settings: JsonObject = {}): Promise<string> {
  const { id } = await site.store.createConversation('local', { title: name, settings })
  const said: Message = { role: 'user', parts: [{ type: 'text', text: `Said in ${name}` }] }
  await site.store.appendAll('local', id, [{ message: said }])
  return id
}

/** A long answer, in which each word is another. */
export function eightyWords(from = 0): string {
  return Array.from({ length: 80 }, (_, i) => `word${from + i}`).join(' ')
}
