// The prompt as a local model sees it, in the inspector.

import assert from 'node:assert/strict'
import test from 'node:test'
import { buildWeb } from '../../scripts/build-web.ts'
import { besides, fakeLlama } from '../llama/fake.ts'
import { newConversation } from '../server/serving.ts'
import { noBrowser } from './browser.ts'
import { browser } from './page-test.ts'
import { openPage } from './site.ts'

test('the inspector shows the prompt of a local model as text, and offers it for no other', async (t) => {
  if (!browser) return t.skip(noBrowser)
  const llama = await fakeLlama(t, () => '<|user|>\n<img src=x onerror="document.title=1">\n<|assistant|>')
  const { directory } = await buildWeb()
  const { api, url } = await besides(t, llama.url, { page: directory })
  const local = await newConversation(api, { settings: { model: 'llama.cpp/tiny' } })
  const other = await newConversation(api, { settings: { model: 'lmstudio/tiny' } })

  const { page, context, errors } = await openPage(browser, { url }, { path: `/c/${local}` })
  t.after(() => context.close())
  page.setDefaultTimeout(30_000)
  await page.keyboard.press('Control+i')
  const inspector = page.getByRole('complementary', { name: 'Inspector' })
  await inspector.getByLabel('Prompt as the model sees it').check()
  const shown = inspector.getByRole('group', { name: 'Prompt as the model sees it' })
  await shown.filter({ hasText: '<img src=x' }).waitFor()
  assert.equal(await shown.textContent(), '<|user|>\n<img src=x onerror="document.title=1">\n<|assistant|>')
  assert.equal(await inspector.locator('img').count(), 0)

  await page.goto(`${url}/c/${other}`)
  await inspector.getByLabel('Exact body').waitFor()
  assert.equal(await inspector.getByLabel('Prompt as the model sees it').count(), 0)
  assert.deepEqual(errors, [])
})
