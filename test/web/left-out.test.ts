// What is left out of a request, what that saves, and bringing it back.

import assert from 'node:assert/strict'
import type { Message } from '../../src/core/message.ts'
import { ask, replies, seen, site, pageTest } from './page-test.ts'
import { settled } from './site.ts'

const long = 'noon '.repeat(600)

function turn(n: number): Message[] {
  const origin = { provider: 'anthropic', protocol: 'anthropic-messages', model: 'claude-opus-5' }
  const callId = `call-${n}`
  return [
    { role: 'user', parts: [{ type: 'text', text: `Question ${n}` }] },
    {
      role: 'assistant',
      parts: [{ type: 'tool-call', callId, name: 'clock', input: { zone: `Zone${n}` } }],
      native: [],
      origin,
      stop: { reason: 'tool-calls' },
    },
    { role: 'tool', parts: [{ type: 'tool-result', callId, name: 'clock', output: [{ type: 'text', text: long }] }] },
    { role: 'assistant', parts: [{ type: 'text', text: `Answer ${n}` }], native: [], origin, stop: { reason: 'done' } },
  ]
}

pageTest(
  'the head shows what a conversation cost, and a fold in the inspector is brought back with a click',
  async ({ page }) => {
    const { id } = await site.store.createConversation('local', { title: 'Folded', settings: { policy: 'full' } })
    const messages = [1, 2, 3, 4].flatMap(turn).map((message) => ({ message }))
    const entries = await site.store.appendAll('local', id, messages)
    await site.store.addOverlay('local', id, {
      entryId: entries.at(-1)?.id ?? '',
      kind: 'fold',
      data: { from: entries[1]?.id ?? '', through: entries[5]?.id ?? '', style: 'stub', why: 'the cache is cold' },
    })
    await page.goto(`${site.url}/c/${id}`)
    const inspector = page.getByRole('complementary', { name: 'Inspector' })
    await page.getByRole('button', { name: 'Inspector', exact: true }).click()
    await seen(inspector.locator('.badge.folded'), 'folded')
    await seen(inspector.locator('.decided'), /Old tool turns are shortened to one line each since/)
    const folded = Number((await inspector.locator('.facts dd').first().innerText()).replaceAll(/\D/g, ''))
    await inspector.getByRole('button', { name: 'Bring back' }).first().click()
    await inspector.locator('.badge.folded').first().waitFor({ state: 'detached' })
    await page.waitForFunction(
      `Number(document.querySelector('.facts dd').textContent.replaceAll(/\\D/g, '')) > ${folded + 1000}`,
    )
    assert.equal((await site.store.overlays('local', id))[0]?.undone, true)

    await ask(page, 'Hello there')
    await replies(page).last().waitFor()
    await settled(page)
    const [sent] = (await site.store.exchanges('local', id)).items
    const body = Buffer.from((await site.store.blob('local', sent?.bodySha256 ?? '')) ?? []).toString()
    assert.equal(body.split(long).length - 1, 4, 'everything is sent again')
    const spent = page.getByRole('button', { name: /Cost of this conversation/ })
    await seen(spent, /\$|¢/)
    await spent.click()
    await inspector.getByRole('tab', { name: 'Usage', selected: true }).waitFor()
  },
)
