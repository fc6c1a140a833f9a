// The page is for everybody: nothing for axe to find in light and in dark, everything by keyboard alone, small, and as
// quick with ten thousand messages as with ten.

import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { gzipSync } from 'node:zlib'
import axe from 'axe-core'
import type { Locator, Page } from 'playwright-core'
import { buildWeb } from '../../scripts/build-web.ts'
import type { Message } from '../../src/core/message.ts'
import { thorough } from '../thorough.ts'
import { noBrowser } from './browser.ts'
import { say, settled, openPage, type PageSession } from './site.ts'
import { browser, site } from './page-test.ts'

async function withVisitor(t: TestContext, tell: (session: PageSession) => Promise<void>): Promise<void> {
  if (!browser) return t.skip(noBrowser)
  const session = await openPage(browser, site)
  session.page.setDefaultTimeout(30_000)
  try {
    await tell(session)
  } finally {
    await session.context.close()
  }
}

/** What depends on colours. */
const colourRules = ['color-contrast', 'link-in-text-block']

/** All rules in light, and in dark those of colours: the rest is the same page. */
async function findings(page: Page, within = 'html'): Promise<string[]> {
  const run = (rules?: readonly string[]) => {
    const options = { resultTypes: ['violations'], ...(rules && { runOnly: rules }) }
    return page.evaluate<string[]>(`axe.run('${within}', ${JSON.stringify(options)}).then(({ violations }) =>
      violations.flatMap(({ id, nodes }) => nodes.map((node) => id + ': ' + node.html.slice(0, 160) + ' ' + node.failureSummary)))`)
  }
  const ground = () => page.evaluate<string>('getComputedStyle(document.body).backgroundColor')
  const [light, bright] = [await run(), await ground()]
  await page.emulateMedia({ colorScheme: 'dark' })
  assert.notEqual(await ground(), bright)
  const dark = await run(thorough ? undefined : colourRules)
  await page.emulateMedia({ colorScheme: 'light' })
  return [...light, ...dark.map((found) => `dark: ${found}`)]
}

test('axe finds nothing, in light and in dark', async (t) => {
  await withVisitor(t, async ({ page }) => {
    await page.evaluate(axe.source)
    const found = (within?: string) => findings(page, within)
    assert.deepEqual(await found(), [], 'an empty page')
    site.replies.push([
      { type: 'reasoning', text: 'Let me think about **it**.' },
      { type: 'text', text: richText },
      { type: 'tool-call', callId: '', name: 'clock', input: { zone: 'Europe/Paris' } },
    ])
    await say(page, 'Show me everything')
    await page.locator('details.tool').waitFor()
    await settled(page)
    await page.locator('details.thinking summary').click()
    await page.locator('details.tool > summary').click()
    await page.locator('.hljs-keyword').first().waitFor()
    await page.getByLabel('Compare with').selectOption('next openai/gpt-5.6')
    await page.locator('.request-head').nth(1).waitFor()
    assert.deepEqual(await found(), [], 'two requests side by side')
    await page.getByRole('button', { name: 'Narrow inspector' }).click()
    await page.getByLabel('Compare with').selectOption('')
    site.emulator.order({ status: 401 })
    await say(page, 'Fail')
    await page.getByRole('alert').waitFor()
    await page.getByRole('tab', { name: 'Usage' }).click()
    await page.locator('.chart canvas').waitFor()
    assert.deepEqual(await found(), [], 'a conversation with a failure, and its usage')
    await page.getByRole('button', { name: /^Model:/ }).click()
    await page.locator('.preview p').first().waitFor()
    assert.deepEqual(await found('dialog'), [], 'the model picker')
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Settings of this conversation' }).click()
    assert.deepEqual(await found('dialog'), [], 'settings')
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Close the inspector' }).click()
    await page.setViewportSize({ width: 390, height: 780 })
    await page.getByRole('button', { name: 'Conversations' }).click()
    await page.getByRole('searchbox').fill('everything')
    await page.getByRole('list', { name: 'Search results' }).getByRole('link').first().waitFor()
    assert.deepEqual(await found(), [], 'a small screen')
    await page.getByRole('searchbox').fill('nothingofthekind')
    await page.getByText('No results.').waitFor()
    assert.deepEqual(await found('nav'), [], 'a search in vain')
  })
})

const richText = `## A heading

Some *words*, \`code\`, a [link](https://example.com/page) and an ![image](https://example.com/i.png).

- one
- two

\`\`\`ts
const answer: number = 42 // of course
\`\`\`

| City | Time |
| --- | --- |
| Paris | 12:00 |

> Said by somebody`

test('everything can be done by keyboard alone', async (t) => {
  await withVisitor(t, async ({ page, errors }) => {
    const press = async (...keys: string[]) => {
      for (const key of keys) await page.keyboard.press(key)
    }
    const focused = (one: Locator) => one.and(page.locator(':focus')).waitFor()
    const [mine, reply] = [/^You$/, /^Reply from/].map((name) => page.getByRole('article', { name })) as [
      Locator,
      Locator,
    ]
    await focused(page.getByRole('textbox', { name: 'Message' }))
    await page.keyboard.type('What time is it?')
    await press('Enter')
    await page.locator('details.tool').waitFor()
    await settled(page)

    await page.locator('[data-key][tabindex="0"]').focus()
    await focused(reply)
    await press('Home')
    await focused(mine)
    await press('ArrowDown')
    await focused(reply)
    await press('Tab')
    await focused(page.locator('details.tool > summary'))
    const isOpen = await page.locator('details.tool').getAttribute('open')
    await press('Enter')
    assert.notEqual(await page.locator('details.tool').getAttribute('open'), isOpen)

    await press('Control+m')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.type('openai/gpt-5.6')
    await press('ArrowDown', 'Enter')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.locator('.model-button').filter({ hasText: 'openai/' }).waitFor()

    await press('Control+k')
    await page.keyboard.type('time')
    await page.getByRole('list', { name: 'Search results' }).getByRole('link').first().waitFor()
    await press('Tab')
    await press('Enter')
    await page.locator('.row.is-target:focus').waitFor()

    await press('Control+i')
    await page.getByRole('complementary', { name: 'Inspector' }).waitFor({ state: 'detached' })
    await press('Control+i')
    await page.getByRole('complementary', { name: 'Inspector' }).waitFor()
    await page.locator('.piece').first().waitFor()
    assert.deepEqual(errors, [])
  })
})

test('the focus is always visible, and moves through the whole page and out of it again', async (t) => {
  await withVisitor(t, async ({ page }) => {
    await say(page, 'What time is it?')
    await page.locator('details.tool').waitFor()
    await settled(page)
    // The inspector has the next request then, and draws nothing again under the focus.
    await page.locator('.piece').filter({ hasText: 'clock answered' }).first().waitFor()
    await page.locator('.skip').focus()
    const places: string[] = ['Skip to the message']
    for (let i = 0; i < 150; i++) {
      await page.keyboard.press('Tab')
      const at = (await page.evaluate(`(() => {
        const one = document.activeElement
        if (one === document.body) return ''
        const ring = getComputedStyle(one)
        const box = one.closest('.composer') ? getComputedStyle(one.closest('.composer')).boxShadow : 'none'
        const seen = (ring.outlineStyle !== 'none' && parseFloat(ring.outlineWidth) > 0) || box !== 'none'
        return (seen ? '' : 'UNSEEN ') + one.nodeName + ' ' + (one.getAttribute('aria-label') ?? one.textContent).slice(0, 40)
      })()`)) as string
      if (at === '' || (places.length > 5 && at.includes('Skip to the message'))) break
      places.push(at)
    }
    assert.ok(places.length < 150, 'the focus came out again')
    assert.deepEqual(
      places.filter((place) => place.startsWith('UNSEEN')),
      [],
    )
    for (const wanted of [
      'Skip to the message',
      'Search everything',
      'Reply from',
      'Message',
      'Attach files',
      'Request',
    ]) {
      assert.ok(
        places.some((place) => place.includes(wanted)),
        `${wanted} is reached: ${places.join(', ')}`,
      )
    }
  })
})

async function longConversation(turns: number): Promise<string> {
  const { id } = await site.store.createConversation('local', { title: 'A long one' })
  const messages = Array.from({ length: turns }, (_, i): Message[] => [
    { role: 'user', parts: [{ type: 'text', text: `Question ${i}` }] },
    {
      role: 'assistant',
      parts: [{ type: 'text', text: `Answer ${i}. `.repeat(1 + (i % 30)) }],
      native: [],
      origin: { protocol: 'elsewhere', provider: 'openai', model: 'gpt-5.6' },
      stop: { reason: 'done' },
    },
  ])
  const entries = messages.flat().map((message) => ({ message }))
  await site.store.appendAll('local', id, entries)
  return id
}

/** How long a step of scrolling takes, where nothing else disturbs it; and how many rows are on the page then. */
const scroll = `(async () => {
  const box = document.querySelector('.rows-scroller')
  let rows = 0
  const times = []
  await new Promise((idle) => requestIdleCallback(idle, { timeout: 2000 }))
  for (let i = 0; i < 40; i++) {
    const began = performance.now()
    box.scrollTop += i % 2 === 0 ? -1800 : 900
    await new Promise(requestAnimationFrame)
    await new Promise(requestAnimationFrame)
    times.push(performance.now() - began)
    rows = Math.max(rows, document.querySelectorAll('.row').length)
  }
  return { ms: times.sort((a, b) => a - b)[8], rows }
})()`

test('ten thousand messages are drawn as quickly as a hundred', async (t) => {
  if (!browser) return t.skip(noBrowser)
  const [short, long] = [await longConversation(50), await longConversation(5000)]
  await withVisitor(t, async ({ page }) => {
    const scrolled = async (id: string, last: string) => {
      await page.goto(`${site.url}/c/${id}`)
      await page.getByText(last).waitFor()
      return page.evaluate<{ ms: number; rows: number }>(scroll)
    }
    // A list that is slow is slow every time; a machine that is busy is not.
    for (let triesLeft = 4; triesLeft >= 0; triesLeft--) {
      const few = await scrolled(short, 'Answer 49.')
      const many = await scrolled(long, 'Answer 4999.')
      t.diagnostic(
        `a step of scrolling: ${few.ms.toFixed(0)} ms with a hundred, ${many.ms.toFixed(0)} ms with ten thousand`,
      )
      assert.ok(many.rows < 60, `${many.rows} rows on the page at once`)
      if (many.ms < few.ms * 3 + 40) break
      assert.ok(triesLeft > 0, `${many.ms} ms instead of ${few.ms}`)
    }
    await page.locator('.row').first().focus()
    await page.keyboard.press('Home')
    await page.getByText('Question 0', { exact: true }).waitFor()
    await page.keyboard.press('End')
    await page.getByText('Answer 4999.').waitFor()
  })
})

test('the first load is under 150 kB, with formulas, colours and charts loaded later, and none of it is inline', async () => {
  const { directory } = await buildWeb()
  const index = await readFile(join(directory, 'index.html'), 'utf8')
  assert.doesNotMatch(index, /<script>|<style|style=|\son\w+=|https?:/)
  const first = new Set([...index.matchAll(/assets\/[\w.-]+/g)].map(([name]) => name))
  for (const name of first) {
    const text = await readFile(join(directory, name), 'utf8')
    for (const [, next] of text.matchAll(/(?:from|import)"\.\/([\w.-]+\.js)"/g)) first.add(`assets/${next}`)
  }
  let bytes = gzipSync(index, { level: 9 }).length
  for (const name of first) bytes += gzipSync(await readFile(join(directory, name)), { level: 9 }).length
  assert.ok(bytes < 150_000, `${bytes} bytes`)
  const late = (await readdir(join(directory, 'assets'))).filter((name) => !first.has(`assets/${name}`))
  for (const part of ['typeset', 'highlighter', 'plot'])
    assert.ok(
      late.some((name) => name.startsWith(`${part}-`)),
      part,
    )
})
