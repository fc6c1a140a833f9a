// What other conversations do, as the list and the title of the tab show it.

import { settled } from './site.ts'
import { ask, listed, replies, seen, site, pageTest } from './page-test.ts'

pageTest(
  'a conversation that is answering in the background is marked in the list until it is done',
  async ({ page }) => {
    site.hold(2)
    await ask(page, 'Tell me about rivers')
    await page.getByRole('button', { name: 'New conversation' }).click()
    const row = listed(page, 'Tell me about rivers')
    await seen(row, 'answering')
    site.release()
    await row.filter({ hasNotText: 'answering' }).waitFor()
  },
)

pageTest('a conversation that waits for approval is marked in the list and in the tab title', async ({ page }) => {
  await ask(page, 'Use the tool send_mail with {"to":"bob@example.com"}')
  await page.getByRole('button', { name: 'Allow once' }).waitFor()
  await settled(page)
  await page.getByRole('button', { name: 'New conversation' }).click()
  const row = listed(page, 'Use the tool send_mail with {"to":"bob@example.com"}')
  await seen(row, 'waits for you')
  await page.waitForFunction(`document.title.startsWith('(1) ')`)
  await row.click()
  await page.getByRole('button', { name: 'Allow once' }).click()
  await seen(replies(page), 'sent to "bob@example.com"')
  await settled(page)
  await page.waitForFunction(`!document.title.startsWith('(')`)
})
