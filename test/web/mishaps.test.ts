// Errors around a conversation are shown where they can be read, and nothing is lost.

import assert from 'node:assert/strict'
import type { Message } from '../../src/core/message.ts'
import { settled } from './site.ts'
import { ask, eightyWords, idOn, storedConversation, replies, seen, site, pageTest, title } from './page-test.ts'

pageTest('a failed request for the tree is reported, and made up for at the next change', async ({ page }) => {
  await ask(page, 'Hello')
  await settled(page)
  const id = await idOn(page)
  const elsewhere = async (text: string) => {
    const message: Message = { role: 'user', parts: [{ type: 'text', text }] }
    await site.store.appendAll('local', id, [{ message }])
  }
  await page.route('**/tree?*', (route) => route.abort(), { times: 1 })
  await elsewhere('One from elsewhere')
  await seen(page.getByRole('alert'), 'does not answer')
  await elsewhere('Another from elsewhere')
  for (const words of ['One from elsewhere', 'Another from elsewhere']) {
    await seen(page.getByRole('article', { name: 'You' }), words)
  }
})

pageTest('an unreadable file is reported, and the other files are attached', async ({ page }) => {
  await page.evaluate(`(() => {
    const read = Blob.prototype.arrayBuffer
    Blob.prototype.arrayBuffer = function () {
      return this.name === 'folder' ? Promise.reject(new DOMException('gone', 'NotFoundError')) : read.call(this)
    }
  })()`)
  const carried = await page.evaluateHandle(`(() => {
    const data = new DataTransfer()
    data.items.add(new File([''], 'folder'))
    data.items.add(new File(['a note'], '${'long'.repeat(60)}.txt', { type: 'text/plain' }))
    return data
  })()`)
  await page.locator('main.chat').dispatchEvent('drop', { dataTransfer: carried })
  await seen(page.getByRole('list', { name: 'Attached files' }), 'longlong')
  await seen(page.getByRole('alert'), 'folder cannot be read')
  await ask(page, 'Look at this')
  await seen(replies(page), 'It has 1 attachment')
})

pageTest('a link to a place that is not there opens the conversation', async ({ page }) => {
  const id = await storedConversation('Linked')
  for (const place of ['nowhere', '%E0%A4%A']) {
    await page.goto('about:blank')
    await page.goto(`${site.url}/c/${id}#${place}`)
    await seen(page.getByRole('article', { name: 'You' }), 'Said in Linked')
  }
})

pageTest('settings that the dialog does not show survive it, and tools that are gone do not', async ({ page }) => {
  const policy = { maxMessages: 7 }
  const id = await storedConversation('Set elsewhere', { policy, tools: ['gone', 'clock', 'add', 'send_mail'] })
  await page.goto(`${site.url}/c/${id}`)
  await seen(title(page), 'Set elsewhere')
  await page.getByRole('button', { name: 'Settings of this conversation' }).click()
  await page.getByLabel('Instructions').fill('Be brief.')
  const saved = page.waitForResponse((answer) => answer.request().method() === 'PATCH')
  await page.getByRole('button', { name: 'Save' }).click()
  assert.equal((await saved).status(), 200)
  const { settings } = (await site.store.conversation('local', id)) ?? {}
  assert.deepEqual(settings, { policy, tools: ['clock', 'add', 'send_mail'], system: 'Be brief.' })
})

pageTest('settings that the server did not take are still there to be saved again', async ({ page }) => {
  const id = await storedConversation('To be set')
  await page.goto(`${site.url}/c/${id}`)
  await seen(title(page), 'To be set')
  const failure = { error: { kind: 'storage', message: 'The disk is full.' } }
  await page.route(`**/api/conversations/${id}`, (route) => route.fulfill({ status: 503, json: failure }), { times: 1 })
  await page.getByRole('button', { name: 'Settings of this conversation' }).click()
  await page.getByLabel('Instructions').fill('Be brief.')
  await page.getByRole('button', { name: 'Save' }).click()
  await seen(page.getByRole('dialog').getByRole('alert'), 'The disk is full.')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  assert.deepEqual((await site.store.conversation('local', id))?.settings, { system: 'Be brief.' })
})

pageTest('a refused export is reported, and no file is saved', async ({ page }) => {
  await ask(page, 'Hello')
  await settled(page)
  await seen(title(page), 'Hello')
  let saved = 0
  page.on('download', () => saved++)
  await page.route('**/export*', (route) =>
    route.fulfill({ status: 503, json: { error: { kind: 'storage', message: 'The disk is full.' } } }),
  )
  await page.getByRole('button', { name: 'This conversation', exact: true }).click()
  await page.getByRole('menuitem', { name: 'Export as JSON Lines' }).click()
  await seen(page.getByRole('alert'), 'The disk is full.')
  assert.equal(saved, 0)
  await page.unroute('**/export*')
  await page.getByRole('button', { name: 'This conversation', exact: true }).click()
  const download = page.waitForEvent('download')
  await page.getByRole('menuitem', { name: 'Export as JSON Lines' }).click()
  assert.equal((await download).suggestedFilename(), 'Hello.jsonl')
})

pageTest('what cannot be saved is reported where it can be read', async ({ page }) => {
  await ask(page, 'Hello')
  await settled(page)
  await page.getByRole('button', { name: 'This conversation', exact: true }).click()
  await page.getByRole('menuitem', { name: 'Rename and label' }).click()
  await page.getByLabel('Labels, separated by commas').fill('x'.repeat(101))
  await page.getByRole('button', { name: 'Save' }).click()
  await seen(page.getByRole('dialog').getByRole('alert'), 'labels.0')
  await page.getByRole('button', { name: 'Dismiss' }).click()
  await page.getByRole('alert').waitFor({ state: 'detached' })
})

pageTest('a stream that is refused for a moment is asked for again', async ({ page }) => {
  site.replies.push([{ type: 'text', text: eightyWords() }])
  await page.route('**/events', (route) => route.fulfill({ status: 429, json: {} }), { times: 1 })
  site.hold(12)
  await ask(page, 'Tell me much')
  await seen(page.getByRole('article', { name: 'Answer, coming' }), 'word3')
  site.release()
  await seen(replies(page), 'word79')
})
