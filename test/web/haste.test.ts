// People are quicker than servers: they click twice, go elsewhere while something loads, and delete what is still
// being answered.

import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import type { Message } from '../../src/core/message.ts'
import { say, settled, watched } from './site.ts'
import {
  ask,
  eightyWords,
  idOn,
  storedConversation,
  listed,
  replies,
  seen,
  site,
  pageTest,
  title,
} from './page-test.ts'

/** Holds the first answer to such a request back until it is let go. */
async function heldBack(page: Page, url: RegExp | string, method = 'GET') {
  const asked = Promise.withResolvers<void>()
  const go = Promise.withResolvers<void>()
  let times = 0
  await page.route(url, async (route) => {
    if (route.request().method() !== method || ++times > 1) return route.fallback()
    const response = await route.fetch()
    asked.resolve()
    await go.promise
    await route.fulfill({ response })
  })
  return { asked: asked.promise, letGo: go.resolve, times: () => times }
}

/** Lets an answer go, and waits until the page has taken it. */
async function arrived(page: Page, url: RegExp | string, letGo: () => void): Promise<void> {
  const answer = page.waitForResponse(url)
  letGo()
  await (await answer).finished()
  await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn)))')
}

pageTest('a double click starts a run only once', async ({ page }) => {
  const created = await heldBack(page, /\/api\/conversations$/, 'POST')
  await page.getByRole('button', { name: /^Two tools at once/ }).dblclick()
  await created.asked
  created.letGo()
  await seen(replies(page), 'clock answered')
  await settled(page)
  assert.equal(created.times(), 1)
  const again = await heldBack(page, /\/retry$/, 'POST')
  await replies(page).last().hover()
  await page.getByRole('button', { name: 'Regenerate' }).last().dblclick()
  await again.asked
  again.letGo()
  await page.getByRole('group', { name: 'Version 2 of 2' }).waitFor()
  await settled(page)
  assert.equal(again.times(), 1)
})

pageTest('Escape between sending a message and the start of its run stops the run', async ({ page }) => {
  site.replies.push([{ type: 'text', text: eightyWords() }])
  site.hold(12)
  const id = await storedConversation('Stopped early')
  // Else the page may learn about the run before the answer to its start.
  await page.route('**/watch', () => {})
  await page.goto(`${site.url}/c/${id}`)
  await seen(title(page), 'Stopped early')
  const sent = await heldBack(page, /\/messages$/, 'POST')
  await say(page, 'Tell me much')
  await sent.asked
  await page.keyboard.press('Escape')
  sent.letGo()
  await seen(page.locator('.notice'), 'Stopped.')
  site.release()
  await settled(page)
})

pageTest('a search that is typed before the page has loaded stays in the search field', async ({ page }) => {
  await storedConversation('About quolls')
  const models = await heldBack(page, '**/api/models')
  await page.reload()
  await models.asked
  await page.keyboard.press('Control+k')
  await page.keyboard.type('quo')
  const preferred = page.waitForResponse('**/api/models/preferred')
  models.letGo()
  await (await preferred).finished()
  await page.keyboard.type('lls')
  assert.equal(await page.getByRole('searchbox', { name: 'Search everything' }).inputValue(), 'quolls')
  await seen(page.getByRole('list', { name: 'Search results' }), 'About quolls')
})

pageTest(
  'the conversation that was clicked last is the one that is open, whichever is loaded first',
  async ({ page }) => {
    const slow = await storedConversation('The slow one')
    await storedConversation('The quick one')
    await page.reload()
    const tree = await heldBack(page, `**/api/conversations/${slow}/tree?*`)
    await listed(page, 'The slow one').click()
    await tree.asked
    await listed(page, 'The quick one').click()
    await seen(page.getByRole('article', { name: 'You' }), 'Said in The quick one')
    await arrived(page, `**/api/conversations/${slow}/tree?*`, tree.letGo)
    await seen(title(page), 'The quick one')
    await seen(page.getByRole('article', { name: 'You' }), 'Said in The quick one')
  },
)

pageTest('a message sent while a conversation loads belongs to that conversation', async ({ page }) => {
  const id = await storedConversation('Still loading')
  const tree = await heldBack(page, `**/api/conversations/${id}/tree?*`)
  await page.goto(`${site.url}/c/${id}`)
  await tree.asked
  await say(page, 'Quick words')
  tree.letGo()
  await seen(title(page), 'Still loading')
  await seen(page.getByRole('article', { name: 'You' }), 'Quick words')
  await settled(page)
  assert.ok(((await site.store.conversation('local', id))?.entries ?? 0) > 2)
})

pageTest('a message sent right after picking another model goes to that model', async ({ page }) => {
  const id = await storedConversation('To be switched')
  await page.goto(`${site.url}/c/${id}`)
  await seen(title(page), 'To be switched')
  const go = Promise.withResolvers<void>()
  await page.route(`**/api/conversations/${id}`, async (route) => {
    if (route.request().method() === 'PATCH') await go.promise
    await route.fallback()
  })
  await page.getByRole('button', { name: /^Model:/ }).click()
  const picker = page.getByRole('dialog').getByRole('combobox')
  await picker.fill('openai/gpt-5.6')
  await picker.press('Enter')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await say(page, 'Who are you?')
  // Whatever would go to the server before the change has gone by then.
  await page.evaluate(`fetch('/api/conversations/${id}')`)
  go.resolve()
  await replies(page).waitFor()
  assert.match((await replies(page).getAttribute('aria-label')) ?? '', /gpt-5\.6/)
})

pageTest('settings that were given to a new conversation are its own, and not those of the next', async ({ page }) => {
  const instructions = async () => {
    await page.getByRole('button', { name: 'Settings of this conversation' }).click()
    return page.getByLabel('Instructions')
  }
  await (await instructions()).fill('Be brief.')
  await page.getByRole('button', { name: 'Save' }).click()
  await ask(page, 'Hello')
  await settled(page)
  await page.getByRole('button', { name: 'New conversation' }).click()
  await seen(title(page), 'New conversation')
  assert.equal(await (await instructions()).inputValue(), '')
})

pageTest('a conversation that was deleted while unwatched is no longer shown', async ({ page }) => {
  const id = await storedConversation('Deleted elsewhere')
  const watch = Promise.withResolvers<void>()
  await page.route('**/watch', async (route) => {
    await watch.promise
    await route.fallback()
  })
  await page.goto(`${site.url}/c/${id}`)
  await seen(title(page), 'Deleted elsewhere')
  await site.store.deleteConversation('local', id)
  watch.resolve()
  await seen(title(page), 'New conversation')
  await listed(page, 'Deleted elsewhere').waitFor({ state: 'detached' })
})

pageTest('a conversation that was deleted between two requests of the page is no longer shown', async ({ page }) => {
  const id = await storedConversation('Deleted meanwhile')
  const details = Promise.withResolvers<void>()
  await page.route('**/watch', () => {})
  await page.route(`**/api/conversations/${id}/exchanges*`, async (route) => {
    await details.promise
    await route.fallback()
  })
  // Else the poll of the list removes it.
  await page.route('**/api/conversations?limit=20', (route) => route.abort())
  await page.goto(`${site.url}/c/${id}`)
  await seen(title(page), 'Deleted meanwhile')
  await listed(page, 'Deleted meanwhile').waitFor()
  await site.store.deleteConversation('local', id)
  details.resolve()
  await seen(title(page), 'New conversation')
  await listed(page, 'Deleted meanwhile').waitFor({ state: 'detached' })
})

pageTest(
  'a conversation that was deleted elsewhere leaves the list, also when another one is open',
  async ({ page }) => {
    const id = await storedConversation('Deleted in another window')
    const other = await storedConversation('Still there')
    await page.goto(`${site.url}/c/${other}`)
    await seen(title(page), 'Still there')
    await listed(page, 'Deleted in another window').waitFor()
    await site.store.deleteConversation('local', id)
    await listed(page, 'Deleted in another window').waitFor({ state: 'detached' })
    await listed(page, 'Still there').waitFor()
  },
)

pageTest(
  'a conversation that is deleted while it answers is gone in every tab, without a complaint',
  async ({ page, context }) => {
    site.replies.push([{ type: 'text', text: eightyWords() }])
    site.hold(12)
    await ask(page, 'Tell me much')
    const other = await context.newPage()
    const session = watched(other, context, site)
    await other.goto(`${site.url}/c/${await idOn(page)}`)
    for (const tab of [page, other]) await seen(tab.getByRole('article', { name: 'Answer, coming' }), 'word3')
    await page.bringToFront()
    await page.getByRole('button', { name: 'This conversation', exact: true }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await seen(title(page), 'New conversation')
    site.release()
    for (const tab of [page, other]) {
      await seen(title(tab), 'New conversation')
      await ask(tab, 'Something else')
      await seen(replies(tab), 'Something else')
      await settled(tab)
      assert.deepEqual(await tab.getByRole('alert').allTextContents(), [])
    }
    assert.deepEqual(session.errors, [])
  },
)

pageTest('a conversation that was left while it answered is not said to answer forever', async ({ page }) => {
  site.replies.push([{ type: 'text', text: eightyWords() }])
  site.hold(12)
  await ask(page, 'Tell me of rivers')
  const link = listed(page, 'Tell me of rivers')
  await seen(link, 'answering')
  await page.getByRole('button', { name: 'New conversation' }).click()
  await seen(title(page), 'New conversation')
  site.release()
  await link.getByText('answering').waitFor({ state: 'detached' })
  await link.click()
  await seen(replies(page), 'word79')
})

pageTest('of two lists, and of two searches, the one that was asked for last is shown', async ({ page }) => {
  await site.store.createConversation('local', { title: 'In the garden', labels: ['garden'] })
  await storedConversation('Without a label')
  await page.reload()
  const label = page.getByRole('group', { name: 'Labels' }).getByRole('button', { name: 'garden' })
  const list = await heldBack(page, /label=garden/)
  await label.click()
  await list.asked
  await Promise.all([page.waitForResponse(/conversations\?limit=50$/), label.click()])
  await arrived(page, /label=garden/, list.letGo)
  await listed(page, 'Without a label').waitFor()

  const { id } = await site.store.createConversation('local', { title: 'Much' })
  const said = (text: string): Message => ({ role: 'user', parts: [{ type: 'text', text }] })
  const messages = [...Array.from({ length: 40 }, () => said('An oboe')), said('A tuba')]
  await site.store.appendAll(
    'local',
    id,
    messages.map((message) => ({ message })),
  )
  const results = page.getByRole('list', { name: 'Search results' })
  await page.getByRole('searchbox').fill('oboe')
  await seen(results, 'An oboe')
  const more = await heldBack(page, /cursor=/)
  await results.getByRole('button', { name: 'More' }).click()
  await more.asked
  await page.getByRole('searchbox').fill('tuba')
  await seen(results, 'A tuba')
  await arrived(page, /cursor=/, more.letGo)
  assert.equal(await results.getByRole('link').count(), 1)
})
