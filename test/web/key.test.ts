// The page of a server that asks for a key.

import assert from 'node:assert/strict'
import test from 'node:test'
import { noBrowser, remoteName } from './browser.ts'
import { browser } from './page-test.ts'
import { openSite, say, settled, openPage } from './site.ts'

test('a link to a conversation leads there, once a key was entered', async (t) => {
  if (!browser) return t.skip(noBrowser)
  const guarded = await openSite({ requireKeys: true })
  const { id } = await guarded.store.createConversation('local', { title: 'Behind a key' })
  const { page, context, errors } = await openPage(browser, guarded, { path: `/c/${id}` })
  const late = Promise.withResolvers<void>()
  try {
    await page.getByLabel('Key', { exact: true }).waitFor()
    await page.route(
      '**/tree?*',
      async (route) => {
        const response = await route.fetch()
        await late.promise
        await route.fulfill({ response })
      },
      { times: 1 },
    )
    await page.getByLabel('Key', { exact: true }).fill(`syn_${'A'.repeat(43)}`)
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('dialog').getByText('This key is unknown.').waitFor()
    await page.getByLabel('Key', { exact: true }).fill(guarded.key)
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('heading', { level: 1, name: 'Behind a key' }).waitFor()
    const answer = page.waitForResponse('**/tree?*')
    late.resolve()
    const refusal = await answer
    await refusal.finished()
    await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn)))')
    assert.equal(refusal.status(), 401)
    assert.equal(await page.getByRole('dialog').count(), 0, 'the key is not asked for again')
    assert.equal(await page.getByRole('alert').count(), 0)
    assert.deepEqual(errors, [])
  } finally {
    await context.close()
    await guarded.close()
  }
})

test('a server that asks for a key is used with one, and the key is in no address', async (t) => {
  if (!browser) return t.skip(noBrowser)
  const guarded = await openSite({ requireKeys: true })
  const { page, context, foreignRequests, errors } = await openPage(browser, guarded)
  try {
    const urls: string[] = []
    page.on('request', (request) => urls.push(request.url()))
    await page.getByLabel('Key', { exact: true }).fill(guarded.key)
    await page.getByRole('button', { name: 'Continue' }).click()
    await say(page, 'What time is it?')
    await page
      .getByRole('article', { name: /^Reply from/ })
      .filter({ hasText: 'clock answered' })
      .waitFor()
    await settled(page)
    assert.ok(urls.some((url) => url.includes('/events')))
    assert.ok(urls.every((url) => !url.includes('syn_')))
    assert.deepEqual(foreignRequests, [])
    assert.deepEqual(errors, [])
  } finally {
    await context.close()
    await guarded.close()
  }
})

test('from another machine, without TLS, everything works except copying, which is reported', async (t) => {
  if (!browser) return t.skip(noBrowser)
  const remote = await openSite({ name: remoteName })
  const { page, context, foreignRequests, errors } = await openPage(browser, remote)
  try {
    assert.equal(await page.evaluate('isSecureContext'), false)
    await page.getByLabel('Key', { exact: true }).fill(remote.key)
    await page.getByRole('button', { name: 'Continue' }).click()
    await page
      .locator('input[type=file]')
      .setInputFiles({ name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('a') })
    await page.getByRole('list', { name: 'Attached files' }).getByText('a.txt').waitFor()
    remote.replies.push([{ type: 'text', text: 'Here:\n\n```\ncode\n```' }])
    await say(page, 'Say something')
    const reply = page.getByRole('article', { name: /^Reply from/ })
    await reply.getByRole('button', { name: 'Copy' }).first().click()
    await reply.getByRole('button', { name: 'Not allowed' }).waitFor()
    await reply.hover()
    await reply.locator('.row-actions').getByRole('button', { name: 'Copy' }).click()
    await page.getByText('The browser does not allow access to the clipboard').waitFor({ state: 'attached' })
    await settled(page)
    assert.deepEqual(foreignRequests, [])
    // The browser's own advice.
    assert.deepEqual(
      errors.filter((error) => !error.startsWith('The Cross-Origin-Opener-Policy header has been ignored')),
      [],
    )
  } finally {
    await context.close()
    await remote.close()
  }
})
