// Tools in the page while they work.

import assert from 'node:assert/strict'
import { settled } from './site.ts'
import { ask, idOn, replies, seen, site, pageTest } from './page-test.ts'

pageTest(
  'the progress of a tool is shown while it works, even after a reload, and then its result',
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

pageTest('a question that is over asks no more, and the conversation can continue', async ({ page }) => {
  await ask(page, 'Use the tool send_mail with {"to":"ada@example.com"}')
  const card = page.locator('details.tool')
  await card.getByRole('button', { name: 'Allow once' }).waitFor()
  await settled(page)
  const id = await idOn(page)
  const asked = (await site.store.overlays('local', id)).find(({ kind }) => kind === 'approval-asked')
  assert.ok(asked)
  // Answered by another client whose server stopped right then.
  await site.store.addOverlay('local', id, {
    entryId: asked.entryId,
    kind: 'approval-answered',
    data: { ...asked.data, allowed: true },
  })
  await card.getByRole('button', { name: 'Allow once' }).click()
  await seen(page.getByRole('alert'), 'has already been answered')
  await card.getByRole('button', { name: 'Allow once' }).waitFor({ state: 'detached' })
  await page.reload()
  await seen(page.locator('.notice'), 'The request for approval has expired.')
  await page.getByRole('button', { name: 'Resume' }).click()
  await seen(replies(page), 'sent to "ada@example.com"')
})

pageTest('a fork from a reply that used a tool takes along what the tool answered', async ({ page }) => {
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

pageTest(
  'a tool is denied with a reason, allowed for the conversation, and asks again once that is taken back',
  async ({ page }) => {
    await ask(page, 'Use the tool send_mail with {"to":"ada@example.com"}')
    const card = page.locator('details.tool').last()
    await card.getByRole('button', { name: 'Do not allow' }).click()
    await card.getByLabel('Reason, for the model').fill('Not on a Sunday')
    await card.getByRole('button', { name: 'Deny' }).click()
    await seen(replies(page).last(), /Not on a Sunday/)
    await settled(page)

    await ask(page, 'Use the tool send_mail with {"path":"notes.txt","old_string":"one","new_string":"two","to":"bob"}')
    await seen(card.getByRole('group', { name: 'Changes in notes.txt' }), /- one\s+\+ two/)
    await card.getByRole('button', { name: 'Allow in this conversation' }).click()
    await seen(replies(page).last(), 'sent to "bob"')
    await settled(page)
    await ask(page, 'Use the tool send_mail with {"to":"carol"}')
    await seen(replies(page).last(), 'sent to "carol"')
    await settled(page)

    await page.getByRole('button', { name: 'Settings of this conversation' }).click()
    const dialog = page.getByRole('dialog', { name: 'Settings of this conversation' })
    await seen(dialog.getByRole('group', { name: 'Allowed without asking' }), 'send_mail in this conversation')
    await dialog.getByRole('button', { name: 'Ask again' }).click()
    await dialog.getByRole('group', { name: 'Allowed without asking' }).waitFor({ state: 'detached' })
    await dialog.getByRole('checkbox', { name: /^walk/ }).uncheck()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'detached' })
    await ask(page, 'Use the tool send_mail with {"to":"dora"}')
    await card.getByRole('button', { name: 'Allow once' }).waitFor()
    const { settings } = (await site.store.conversation('local', await idOn(page))) ?? {}
    assert.ok(Array.isArray(settings?.['tools']) && !settings['tools'].includes('walk'))
  },
)
