// Tools in the page while they work.

import assert from 'node:assert/strict'
import { settled } from './site.ts'
import { ask, idOn, replies, seen, site, story } from './story.ts'

story(
  'what a tool tells is shown while it works, also when the page is loaded again, and then its result',
  async ({ page }) => {
    await ask(page, 'Use the tool walk with {"to":"the sea"}')
    const card = page.locator('details.tool')
    await seen(card.locator('.tool-state'), 'running')
    await seen(card, /Arguments.*the sea/s)
    await site.steps.write({ steps: 1 })
    await seen(card, /Progress.*"steps": 1\b/s)
    await site.steps.write({ steps: 2 })
    await seen(card, /Progress.*"steps": 2\b/s)
    assert.doesNotMatch((await card.textContent()) ?? '', /"steps": 1\b/)
    await page.reload()
    await seen(card, /Progress.*"steps": 2\b/s)
    await seen(card.locator('.tool-state'), 'running')
    await site.steps.write('There.')
    await site.steps.close()
    await seen(card.locator('.tool-state'), /done in/)
    await seen(replies(page), 'walk answered: There.')
    await settled(page)
    await card.locator('> summary').click()
    await seen(card, /Result.*There\./s)
    assert.equal(await card.getByText('Progress').count(), 0)
  },
)

story('a question that is over asks no more, and the conversation can continue', async ({ page }) => {
  await ask(page, 'Use the tool send_mail with {"to":"ada@example.com"}')
  const card = page.locator('details.tool')
  await card.getByRole('button', { name: 'Allow once' }).waitFor()
  await settled(page)
  const id = await idOn(page)
  const asked = (await site.store.overlays('local', id)).find(({ kind }) => kind === 'approval-asked')
  assert.ok(asked)
  // Answered by somebody whose server stopped right then.
  await site.store.addOverlay('local', id, {
    entryId: asked.entryId,
    kind: 'approval-answered',
    data: { ...asked.data, allowed: true },
  })
  await card.getByRole('button', { name: 'Allow once' }).click()
  await seen(page.getByRole('alert'), 'was answered already')
  await card.getByRole('button', { name: 'Allow once' }).waitFor({ state: 'detached' })
  await page.reload()
  await seen(page.locator('.notice'), 'The request for approval has expired.')
  await page.getByRole('button', { name: 'Resume' }).click()
  await seen(replies(page), 'sent to "ada@example.com"')
})

story('a fork from a reply that used a tool takes along what the tool answered', async ({ page }) => {
  await ask(page, 'What time is it?')
  await seen(replies(page), 'clock answered')
  await settled(page)
  await replies(page).first().hover()
  await replies(page).first().getByRole('button', { name: 'Fork from here' }).click()
  await replies(page).nth(1).waitFor({ state: 'detached' })
  await ask(page, 'And then?')
  await replies(page).nth(1).waitFor()
  await settled(page)
  const { head } = (await site.store.conversation('local', await idOn(page))) ?? {}
  const roles = (await site.store.history('local', head ?? '')).map(({ message }) => message.role)
  assert.deepEqual(roles, ['user', 'assistant', 'tool', 'user', 'assistant'])
})
