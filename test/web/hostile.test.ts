// A hostile model cannot run a script in the page, cannot make it send requests elsewhere, and cannot leave elements
// behind that it should not have.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import type { Page } from 'playwright-core'
import type { Message } from '../../src/core/message.ts'
import { thorough } from '../thorough.ts'
import { noBrowser } from './browser.ts'
import { payloads } from './payloads.ts'
import { say, settled, openPage } from './site.ts'
import { browser, site } from './page-test.ts'

/** Every payload as a reply, as thoughts, as what a tool was asked and answered, and as the user's own words. */
async function conversationOf(texts: readonly string[]): Promise<string> {
  const { id } = await site.store.createConversation('local', { title: texts[2] ?? '' })
  const entries: { message: Message }[] = []
  for (const [i, text] of texts.entries()) {
    const callId = `call-${i}`
    const messages: Message[] = [
      { role: 'user', parts: [{ type: 'text', text }] },
      {
        role: 'assistant',
        parts: [
          { type: 'reasoning', text },
          { type: 'text', text },
          { type: 'tool-call', callId, name: text.slice(0, 60), input: { text } },
        ],
        native: [],
        origin: { protocol: 'elsewhere', provider: 'elsewhere', model: text.slice(0, 40) },
        stop: { reason: 'tool-calls' },
      },
      { role: 'tool', parts: [{ type: 'tool-result', callId, name: 'x', output: [{ type: 'text', text }] }] },
    ]
    entries.push(...messages.map((message) => ({ message })))
  }
  await site.store.appendAll('local', id, entries)
  return id
}

/** Scripts that ran report by `hit`; anything of the list that is on the page is reported unchanged. */
const trap = 'window.hits = 0; window.hit = () => { window.hits++ }; window.alert = window.hit'
const poke = `(() => {
  const found = []
  const fresh = (one) => !one.closest('.poked')
  for (const box of [...document.querySelectorAll('.markdown, .said-text, .tool')].filter(fresh)) {
    for (const details of box.querySelectorAll('details')) details.open = true
    for (const one of box.querySelectorAll('*')) {
      for (const type of ['mouseover', 'mouseenter', 'focus', 'toggle', 'load', 'error', 'animationstart']) {
        one.dispatchEvent(new Event(type, { bubbles: true }))
      }
    }
  }
  for (const one of [...document.querySelectorAll('.markdown *')].filter(fresh)) {
    const name = one.nodeName.toLowerCase()
    if (/^(script|iframe|object|embed|svg|math|style|link|meta|base|form|input|video|audio|picture|template|img)$/.test(name)) found.push(name)
    for (const { name: attribute, value } of one.attributes) {
      if (/^(on|style$|id$|name$|src|srcset$|action$|formaction$|ping$|background$)/.test(attribute)) found.push(name + ' ' + attribute)
      if (attribute === 'href' && !/^(https?|mailto):/i.test(value)) found.push(name + ' ' + value)
    }
    if (name === 'a' && one.hasAttribute('href')) {
      if (one.rel !== 'noopener noreferrer nofollow' || one.target !== '_blank') found.push('a without rel')
    }
  }
  for (const row of document.querySelectorAll('.row')) row.classList.add('poked')
  return found
})()`

async function lookThrough(page: Page): Promise<{ found: string[]; rows: number }> {
  const found: string[] = []
  const rows = new Set<string>()
  for (;;) {
    found.push(...(await page.evaluate<string[]>(poke)))
    const keys = (await page.evaluate(
      `[...document.querySelectorAll('.row')].filter((row) => row.querySelector('.reply, .said')).map((row) => row.dataset.key)`,
    )) as string[]
    for (const key of keys) rows.add(key)
    const more = await page.evaluate(`(() => {
      const box = document.querySelector('.rows-scroller')
      if (box.scrollTop <= 0) return false
      box.scrollTop -= box.clientHeight
      return true
    })()`)
    if (!more) return { found, rows: rows.size }
    await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))')
    await page.locator('.not-loaded').first().waitFor({ state: 'detached' })
  }
}

/** On the page a quarter of them; `npm run test:all` shows all, and the sanitiser below always gets all. */
const shown = payloads.filter((_, i) => thorough || i % 4 === 0)

test(`${shown.length} hostile texts run no script and make no request`, async (t) => {
  if (!browser) return t.skip(noBrowser)
  assert.ok(payloads.length >= 300)
  const id = await conversationOf(shown.map(({ text }) => text))
  const session = await openPage(browser, site)
  const { page, foreignRequests, errors } = session
  await page.setViewportSize({ width: 1440, height: 2600 })
  await page.addInitScript(`${trap}; localStorage.setItem('synapse-inspector', 'closed')`)
  await page.goto(`${site.url}/c/${id}`)
  await page.locator('.reply').first().waitFor()
  const { found, rows } = await lookThrough(page)
  assert.equal(rows, shown.length * 2, 'every one of them was on the page')
  assert.deepEqual([...new Set(found)], [])
  assert.equal(await page.evaluate('window.hits'), 0)
  assert.deepEqual(foreignRequests, [])
  assert.deepEqual(errors, [])
  await session.context.close()
})

test('hostile texts that arrive in pieces run no script and make no request', async (t) => {
  if (!browser) return t.skip(noBrowser)
  const session = await openPage(browser, site)
  const { page, foreignRequests, errors } = session
  await page.addInitScript(trap)
  await page.reload()
  const text = payloads.filter((_, i) => i % 9 === 0).map((payload) => payload.text)
  site.replies.push([
    { type: 'reasoning', text: text.slice(0, 10).join('\n\n') },
    { type: 'text', text: text.join('\n\n') },
  ])
  await say(page, 'Continue')
  await page.locator('.reply > .markdown').first().waitFor()
  await settled(page)
  assert.deepEqual(await page.evaluate(poke), [])
  assert.equal(await page.evaluate('window.hits'), 0)
  assert.deepEqual(foreignRequests, [])
  assert.deepEqual(errors, [])
  await session.context.close()
})

test('the sanitiser alone is enough, even where nothing else protects the page', async (t) => {
  if (!browser) return t.skip(noBrowser)
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('../../web/markdown/sanitize.ts', import.meta.url))],
    bundle: true,
    write: false,
    format: 'iife',
    globalName: 'sanitizer',
  })
  const context = await browser.newContext()
  const page = await context.newPage()
  const asked: string[] = []
  page.on('request', (request) => asked.push(request.url()))
  await page.evaluate(`${trap}; ${outputFiles[0]?.text}; window.sanitize = sanitizer.sanitize`)
  const texts = JSON.stringify(payloads.map(({ text }) => text))
  await page.evaluate(
    `document.body.className = 'markdown'; for (const text of ${texts}) document.body.append(sanitize(text))`,
  )
  const left = (await page.evaluate<string[]>(poke)).filter((one) => one !== 'img' && one !== 'a without rel')
  assert.deepEqual([...new Set(left)], [])
  await page.evaluate('new Promise((resolve) => setTimeout(resolve, 100))')
  assert.equal(await page.evaluate('window.hits'), 0)
  assert.deepEqual(asked, [])
  await context.close()
})

test('an image of a model is a link that names its host, or waits for a click', async (t) => {
  if (!browser) return t.skip(noBrowser)
  const session = await openPage(browser, site)
  const { page, foreignRequests } = session
  const dot = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=='
  const text = [
    '![chart](https://user@evil.example/c.png)',
    `![dot](data:image/png;base64,${dot})`,
    '[bank](https://bank.example@evil.example/)',
  ].join('\n\n')
  site.replies.push([{ type: 'text', text }])
  await say(page, 'Draw')
  const reply = page.getByRole('article', { name: /^Reply from/ })
  await reply.waitFor()
  assert.deepEqual(await reply.locator('.host').allTextContents(), ['evil.example', 'evil.example'])
  assert.equal(await reply.getByRole('img').count(), 0)
  await reply.getByRole('button', { name: 'dot: show' }).click()
  await reply.getByRole('img', { name: 'dot' }).waitFor()
  assert.deepEqual(foreignRequests, [])
  await session.context.close()
})
