// Makes the pictures of docs/images: the page as it is, on the real server, with the emulator in place of the models.
// Needs a Chromium; with the font Inter installed they look as they do on most machines.

import { mkdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { noBrowser, openBrowser } from '../test/web/browser.ts'
import { openSite, say, settled, visit } from '../test/web/site.ts'

const target = fileURLToPath(new URL('../docs/images/', import.meta.url))
const size = { width: 1280, height: 800 }

const travel = `Two steps, and neither needs a library:

1. Ask the \`clock\` tool once per city: the calls run **at the same time**.
2. Take the difference of the two offsets.

\`\`\`ts
const [tokyo, paris] = await Promise.all(['Asia/Tokyo', 'Europe/Paris'].map((zone) => clock({ zone })))
return \`\${tokyo.time} in Tokyo, \${paris.time} in Paris\`
\`\`\`

| City  | Zone         | Offset |
| ----- | ------------ | ------ |
| Tokyo | Asia/Tokyo   | +9     |
| Paris | Europe/Paris | +1     |

More about zones: [the database](https://www.iana.org/time-zones).`

/** Long enough to be cached. */
const instructions = `You help people who travel. ${'Times are local by default; name the zone when it matters. '.repeat(40)}`

await mkdir(target, { recursive: true })
const browser = await openBrowser()
if (!browser) throw new Error(noBrowser)
const site = await openSite()
try {
  for (const dark of [false, true]) {
    const { page, context } = await visit(browser, site, { dark })
    await page.setViewportSize(size)
    await begin(page)
    if (dark) {
      await page.locator('.rows-scroller').evaluate('(box) => box.scrollTo(0, 0)')
      await page.locator('details.thinking summary').first().click()
      await page.locator('details.tool > summary').first().click()
      await keep(page, 'page-dark')
    } else {
      await keep(page, 'page')
      await page.getByLabel('Beside').selectOption('next openai/gpt-5.6')
      await page.locator('.request-head').nth(1).waitFor()
      await page.locator('.band').nth(4).scrollIntoViewIfNeeded()
      await keep(page, 'inspector')
      await page.getByRole('button', { name: 'Narrow inspector' }).click()
      await page.getByRole('button', { name: /^Model:/ }).click()
      await page.getByRole('combobox', { name: 'Find a model' }).fill('gemini')
      await page.getByRole('combobox', { name: 'Find a model' }).press('ArrowDown')
      await page.locator('.crossing').waitFor()
      await keep(page, 'model-picker')
      await page.keyboard.press('Escape')
      await page.getByRole('tab', { name: 'Usage' }).click()
      await page.locator('.chart canvas').waitFor()
      await keep(page, 'usage')
    }
    await context.close()
  }
} finally {
  await browser.close()
  await site.close()
}

async function begin(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Settings of this conversation' }).click()
  await page.getByLabel('Instructions').fill(instructions)
  await page.getByRole('button', { name: 'Save' }).click()
  await say(page, 'Think about it: what time is it in Tokyo and Paris?')
  await page
    .getByRole('article', { name: /^Reply from/ })
    .nth(1)
    .waitFor()
  await settled(page)
  site.says.push([
    { type: 'reasoning', text: 'They want to do it themselves.' },
    { type: 'text', text: travel },
  ])
  await say(page, 'How would I do that in code?')
  await page.locator('p', { hasText: 'More about zones' }).waitFor()
  await settled(page)
  await page.locator('.hljs-keyword').first().waitFor()
  await page.locator('.facts').first().waitFor()
}

/** Small enough to be kept in the repository. */
async function keep(page: Page, name: string): Promise<void> {
  await page.mouse.move(0, 0)
  await page.evaluate('document.fonts.ready.then(() => new Promise((done) => setTimeout(done, 700)))')
  const path = join(target, `${name}.png`)
  await page.screenshot({ path, animations: 'disabled' })
  const kilobytes = (await stat(path)).size / 1024
  console.log(`docs/images/${name}.png ${Math.round(kilobytes)} kB`)
  if (kilobytes > 200) throw new Error(`${name}.png is larger than 200 kB`)
}
