// The same question to several models, side by side.

import assert from 'node:assert/strict'
import { settled } from './site.ts'
import { ask, idOn, message, replies, seen, site, pageTest } from './page-test.ts'

pageTest(
  'two models answer side by side, and the conversation continues with the one that is chosen',
  async ({ page }) => {
    await ask(page, 'My name is Ada.')
    await replies(page).first().waitFor()
    await settled(page)
    const id = await idOn(page)
    await message(page).fill('What time is it in Tokyo?')
    await page.getByRole('button', { name: 'Compare models' }).click()
    const dialog = page.getByRole('dialog', { name: 'Compare models' })
    assert.equal(await dialog.getByRole('textbox', { name: 'Question' }).inputValue(), 'What time is it in Tokyo?')
    await dialog.getByLabel('Model 2').fill('openai/gpt-5.6')
    await seen(dialog.getByText(/≈ \d+ tokens, (\$|[\d.]+ ¢)/), /tokens/)
    site.hold(30)
    await dialog.getByRole('button', { name: 'Ask 2 models' }).click()
    const claude = dialog.getByRole('region', { name: 'anthropic/claude-opus-5' })
    const gpt = dialog.getByRole('region', { name: 'openai/gpt-5.6' })
    await gpt.and(dialog.locator('[aria-busy=true]')).waitFor()
    assert.ok(await gpt.getByRole('button', { name: 'Continue with this one' }).isDisabled())
    site.release()
    for (const column of [claude, gpt]) {
      await seen(column, /clock answered/)
      await seen(column, /[\d.]+K? in, \d+ out · .*(\$|¢).* · 2 requests/)
    }
    await gpt.getByRole('button', { name: 'Continue with this one' }).click()
    await dialog.waitFor({ state: 'detached' })
    await replies(page)
      .last()
      .getByRole('group', { name: 'Version 2 of 2' })
      .or(page.locator('.branches'))
      .first()
      .waitFor()
    await seen(replies(page).last(), 'gpt-5.6')
    await ask(page, 'And what is my name?')
    await seen(replies(page).last(), /Ada/)
    await settled(page)
    const head = (await site.store.conversation('local', id))?.head ?? ''
    const path = await site.store.history('local', head)
    const providers = path.map(({ message: one }) => (one.role === 'assistant' ? one.origin.provider : one.role))
    assert.deepEqual(providers.slice(2, 6), ['user', 'openai', 'tool', 'openai'])

    await message(page).fill('')
    await page.getByRole('button', { name: 'Compare models' }).click()
    await dialog.getByLabel('Model 2').fill('google/gemini-3.8-flash')
    await dialog.getByRole('button', { name: 'Ask 2 models' }).click()
    await dialog.getByRole('button', { name: 'Requests side by side', disabled: false }).click()
    const inspector = page.getByRole('complementary', { name: 'Inspector' })
    await seen(inspector.locator('.request-model'), 'google/gemini-3.8-flash')
    await seen(inspector.locator('.request-model'), 'anthropic/claude-opus-5')
  },
)
