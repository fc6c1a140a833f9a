// The page of a server that asks for a key.

import assert from 'node:assert/strict'
import test from 'node:test'
import { noBrowser, openBrowser } from './browser.ts'
import { openSite, say, settled, visit } from './site.ts'

test('a server that asks for a key is used with one, and the key is in no address', async (t) => {
  const browser = await openBrowser()
  if (!browser) return t.skip(noBrowser)
  const guarded = await openSite({ requireKeys: true })
  const { page, context, strayed, errors } = await visit(browser, guarded)
  try {
    const urls: string[] = []
    page.on('request', (request) => urls.push(request.url()))
    await page.getByLabel('Key', { exact: true }).fill(guarded.key)
    await page.getByRole('button', { name: 'Go on' }).click()
    await say(page, 'What time is it?')
    await page
      .getByRole('article', { name: /^Reply from/ })
      .filter({ hasText: 'clock answered' })
      .waitFor()
    await settled(page)
    assert.ok(urls.some((url) => url.includes('/events')))
    assert.ok(urls.every((url) => !url.includes('syn_')))
    assert.deepEqual(strayed, [])
    assert.deepEqual(errors, [])
  } finally {
    await context.close()
    await guarded.close()
    await browser.close()
  }
})
