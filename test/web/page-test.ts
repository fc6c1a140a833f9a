// Tests in a real browser with a real server. Importing this file opens both, once per process.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Browser, Locator, Page } from 'playwright-core'
import type { JsonObject } from '../../src/core/json.ts'
import type { Message } from '../../src/core/message.ts'
import { noBrowser, openBrowser } from './browser.ts'
import { openSite, say, openPage, type Site, type PageSession } from './site.ts'

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

/** One page for all tests of a file: opening another costs more than most of them. */
let shared: PageSession | undefined

/** Opens the page as if for the first time for each test, which must end without errors and without requests to other hosts. */
export function pageTest(name: string, run: (session: PageSession) => Promise<void>): void {
  test(name, async (t) => {
    if (!browser) return t.skip(noBrowser)
    const session = await openFresh(browser)
    try {
      await run(session)
      assert.deepEqual(session.errors, [])
      assert.deepEqual(session.foreignRequests, [])
      shared = session
    } finally {
      site.replies.length = 0
      site.release()
      // After a failure the state of the page is unknown.
      if (shared !== session) await session.context.close()
    }
  })
}

async function openFresh(from: Browser): Promise<PageSession> {
  const session = shared ?? (await openPage(from, site))
  session.page.setDefaultTimeout(30_000)
  if (shared === undefined) return session
  shared = undefined
  const { page, context } = session
  for (const other of context.pages()) if (other !== page) await other.close()
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  page.removeAllListeners('download')
  await context.clearPermissions()
  await page.evaluate('localStorage.clear(), sessionStorage.clear()')
  await page.goto(site.url)
  await message(page).waitFor()
  return session
}

export const replies = (page: Page): Locator => page.getByRole('article', { name: /^Reply from/ })
export const message = (page: Page): Locator => page.getByRole('textbox', { name: 'Message' })

/** A conversation has its URL a moment after it was created. */
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

/** An existing conversation with one message. */
export async function storedConversation(name: string, settings: JsonObject = {}): Promise<string> {
  const { id } = await site.store.createConversation('local', { title: name, settings })
  const message: Message = { role: 'user', parts: [{ type: 'text', text: `Said in ${name}` }] }
  await site.store.appendAll('local', id, [{ message }])
  return id
}

/** A long answer, in which each word is another. */
export function eightyWords(from = 0): string {
  return Array.from({ length: 80 }, (_, i) => `word${from + i}`).join(' ')
}
