// Makes the screenshots in docs/images: the shipped program, in a folder with a small project. The model's answers are
// scripted here and come from an emulator on loopback; everything else, tools included, is real. Needs a Chromium; with
// the font Inter installed they look as they do on most machines.

import { mkdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import type { Part } from '../src/core/message.ts'
import { serveEmulator } from '../src/testing.ts'
import { noBrowser, openBrowser } from '../test/web/browser.ts'
import { say, settled } from '../test/web/site.ts'
import { openStock } from '../test/web/stock.ts'

const target = fileURLToPath(new URL('../docs/images/', import.meta.url))

const source = `// Sends a request again when the service is busy.

const limitMs = 60_000

export async function sendAgain(send: () => Promise<Response>): Promise<Response> {
  for (let waited = 0, pause = 500; ; waited += pause, pause *= 2) {
    const answer = await send()
    if (answer.status !== 429 || waited + pause > limitMs) return answer
    await new Promise((resolve) => setTimeout(resolve, pause))
  }
}
`

const found = `The limit is \`limitMs\` in \`src/send.ts\`: **60 seconds in total**, and the pause doubles each time.

| attempt | pause | total wait |
| ------: | ----: | ------------: |
|       1 | 0.5 s |         0.5 s |
|       4 |   4 s |         7.5 s |
|       7 |  32 s |        63.5 s |

The seventh pause would be longer than what is left, so the seventh attempt is the last:

\`\`\`ts
if (answer.status !== 429 || waited + pause > limitMs) return answer
\`\`\``

/** Long enough to be cached. */
const instructions = `You review code. ${'Answer briefly, name files and lines, and say what you have not read. '.repeat(40)}`

const call = (name: string, input: Record<string, string>): Part => ({ type: 'tool-call', callId: name, name, input })

const says: Part[][] = [
  [
    { type: 'reasoning', text: 'First find the word, and read the file that is likely.' },
    call('search_files', { text: 'limit' }),
    call('read_file', { path: 'src/send.ts' }),
  ],
  [{ type: 'text', text: found }],
]

await mkdir(target, { recursive: true })
const browser = await openBrowser()
if (!browser) throw new Error(noBrowser)
const emulator = await serveEmulator({
  reply() {
    const parts = says.shift()
    return parts && { parts }
  },
})
const stock = await openStock({
  ANTHROPIC_API_KEY: 'demo',
  ANTHROPIC_BASE_URL: `${emulator.url}/anthropic`,
  OPENAI_API_KEY: 'demo',
  OPENAI_BASE_URL: `${emulator.url}/openai/v1`,
  SYNAPSE_MODEL: 'anthropic/claude-opus-5',
})
try {
  await mkdir(join(stock.home, 'src'), { recursive: true })
  await writeFile(join(stock.home, 'src', 'send.ts'), source)
  const page = await openPage(false)
  await begin(page)
  await page.locator('.rows-scroller').evaluate('(box) => box.scrollTo(0, box.scrollHeight)')
  await keep(page, 'page')
  const dark = await openPage(true, page.url())
  await dark.locator('.hljs-keyword').first().waitFor()
  await dark.locator('.rows-scroller').evaluate('(box) => box.scrollTo(0, 0)')
  await dark.locator('details.tool > summary').last().click()
  await keep(dark, 'page-dark')
  await page.getByLabel('Compare with').selectOption('next openai/gpt-5.6')
  await page.locator('.request-head').nth(1).waitFor()
  await page.locator('.band').nth(4).scrollIntoViewIfNeeded()
  await keep(page, 'inspector')
  await page.getByRole('button', { name: 'Narrow inspector' }).click()
  await page.getByRole('button', { name: /^Model:/ }).click()
  await page.getByRole('combobox', { name: 'Find a model' }).fill('gpt-5.6')
  await page.locator('.crossing').waitFor()
  await keep(page, 'model-picker')
  await page.keyboard.press('Escape')
  await page.getByRole('tab', { name: 'Usage' }).click()
  await page.locator('.chart canvas').waitFor()
  await keep(page, 'usage')
} finally {
  await browser.close()
  await stock.close()
  await emulator.close()
}

async function openPage(isDark: boolean, url = stock.url): Promise<Page> {
  if (!browser) throw new Error(noBrowser)
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    colorScheme: isDark ? 'dark' : 'light',
    reducedMotion: 'reduce',
  })
  const page = await context.newPage()
  await page.goto(url)
  await page.getByRole('textbox', { name: 'Message' }).waitFor()
  return page
}

async function begin(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Settings of this conversation' }).click()
  await page.getByLabel('Instructions').fill(instructions)
  for (const tool of ['search_files', 'read_file']) await page.getByRole('checkbox', { name: tool }).check()
  await page.getByRole('button', { name: 'Save' }).click()
  await say(page, 'Where is the retry limit set, and how long is it?')
  for (let waiting = 2; waiting > 0; waiting--) {
    await page.getByRole('button', { name: 'Allow in this conversation' }).first().click()
  }
  await page.locator('p', { hasText: 'The seventh pause' }).waitFor()
  await settled(page)
  await page.locator('.hljs-keyword').first().waitFor()
  await page.locator('.facts').first().waitFor()
}

/** Small enough for the repository. */
async function keep(page: Page, name: string): Promise<void> {
  await page.mouse.move(0, 0)
  await page.evaluate('document.fonts.ready.then(() => new Promise((done) => setTimeout(done, 700)))')
  const path = join(target, `${name}.png`)
  await page.screenshot({ path, animations: 'disabled' })
  const kilobytes = (await stat(path)).size / 1024
  console.log(`docs/images/${name}.png ${Math.round(kilobytes)} kB`)
  if (kilobytes > 200) throw new Error(`${name}.png is larger than 200 kB`)
}
