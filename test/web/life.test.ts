// The life of a conversation in a real browser, on the real server, from an empty page on.

import assert from 'node:assert/strict'
import type { Page, Route } from 'playwright-core'
import { say, settled, watched } from './site.ts'
import { ask, eightyWords, idOn, message, replies, seen, site, pageTest } from './page-test.ts'

pageTest(
  'the first answer comes offline, with a tool call, its arguments, its raw result and its cost',
  async ({ page }) => {
    await ask(page, 'What time is it?')
    await seen(replies(page), 'clock answered')
    await settled(page)
    await page.waitForURL(/\/c\//)
    const card = page.locator('details.tool')
    assert.match((await card.locator('> summary').textContent()) ?? '', /clock.*done in/)
    await card.locator('> summary').click()
    assert.match((await card.textContent()) ?? '', /Arguments\{\}ResultRaw|Arguments.*Result.*12:00/s)
    await seen(page.locator('.cost'), /in, \d+ out/)
    await seen(page.getByRole('navigation', { name: 'Conversations' }), 'What time is it?')
  },
)

pageTest(
  'a conversation continues with another provider, and what cannot carry over is shown before',
  async ({ page }) => {
    site.replies.push([
      { type: 'reasoning', text: 'Let me see.' },
      { type: 'text', text: 'I thought about it.' },
    ])
    await ask(page, 'Think first')
    await seen(replies(page), 'I thought about it.')
    await settled(page)
    await page.getByRole('button', { name: /^Model:/ }).click()
    const picker = page.getByRole('dialog', { name: 'Choose a model' })
    await picker.getByRole('combobox').fill('openai/gpt-5.6')
    await picker.getByRole('combobox').press('ArrowDown')
    await seen(picker.locator('.crossing'), /dropped.*reasoning/s)
    await picker.getByRole('button', { name: 'Switch' }).click()
    await seen(page.locator('.model-button'), 'openai/gpt-5.6')
    await ask(page, 'What did I say first?')
    await seen(replies(page), '"Think first"')
    await settled(page)
    assert.match((await replies(page).last().getAttribute('aria-label')) ?? '', /gpt-5\.6/)
  },
)

pageTest(
  'the inspector shows the body, its sources and the notes, and two providers side by side',
  async ({ page }) => {
    site.replies.push([
      { type: 'reasoning', text: 'A thought.' },
      { type: 'text', text: 'Said at Anthropic.' },
    ])
    await ask(page, 'Inspect me')
    await settled(page)
    const inspector = page.getByRole('complementary', { name: 'Inspector' })
    await seen(inspector.locator('.piece'), 'Inspect me')
    await seen(inspector.locator('.piece'), 'Said at Anthropic.')
    await seen(inspector.locator('.request-head'), 'https://api.anthropic.com/v1/messages')
    await inspector.getByLabel('Compare with').selectOption('next openai/gpt-5.6')
    await seen(inspector.locator('.request-head').nth(1), 'openai/gpt-5.6')
    const line = inspector.locator('.band').filter({ hasText: 'Said at Anthropic.' })
    await line.locator('.band-side').nth(1).waitFor()
    await seen(line.locator('.band-side').nth(1).locator('.note'), /dropped.*reasoning/s)
    await inspector.getByLabel('Exact body').check()
    await seen(inspector.getByRole('group', { name: 'Body' }).first(), /"messages": \[ \d items \]/)
    for (const button of await inspector.getByRole('button', { name: 'Format' }).all()) await button.click()
    const body = JSON.parse((await inspector.getByRole('group', { name: 'Body' }).first().textContent()) ?? '')
    assert.equal(body.messages[0].content[0].text, 'Inspect me')
    await inspector.getByLabel('Exact body').uncheck()
    await inspector
      .getByRole('button', { name: /user #1/ })
      .first()
      .click()
    assert.equal(await page.evaluate('document.activeElement.getAttribute("aria-label")'), 'You')
  },
)

pageTest('a sent request is shown unchanged, with the predicted and the reported cache', async ({ page }) => {
  await page.getByRole('button', { name: 'Settings of this conversation' }).click()
  await page.getByLabel('Instructions').fill('Always answer with great care. '.repeat(200))
  await page.getByRole('button', { name: 'Save' }).click()
  await ask(page, 'What time is it?')
  await seen(replies(page), 'clock answered')
  await settled(page)
  await replies(page).last().hover()
  await page.getByRole('button', { name: 'Show the request for this reply' }).last().click()
  const inspector = page.getByRole('complementary', { name: 'Inspector' })
  await seen(inspector.locator('.facts'), 'Cache, reported')
  await seen(inspector.locator('.piece'), /tool_result/)
  await seen(inspector.locator('.request-head'), 'Compared with the previous request')
  await seen(inspector.locator('.piece.is-cached'), 'Always answer with great care.')
  const [predicted, reported] = await inspector
    .locator('.facts dd')
    .allTextContents()
    .then((all) => all.slice(2))
  assert.match(predicted ?? '', /\(9\d %\)/)
  assert.match(reported ?? '', /\(9\d %\)/)
  await page.getByRole('tab', { name: 'Usage' }).click()
  await page.locator('.chart canvas').waitFor()
  const requests = page.getByRole('group', { name: 'Usage by request' }).locator('tbody tr')
  await requests.nth(1).waitFor()
  assert.equal(await requests.count(), 2)
})

pageTest('the sums of a conversation count every request, also those that are not loaded', async ({ page }) => {
  await page.route(/exchanges\?limit=100$/, (route) =>
    route.continue({ url: route.request().url().replace('limit=100', 'limit=1') }),
  )
  await ask(page, 'What time is it?')
  await seen(replies(page), 'clock answered')
  await settled(page)
  await page.getByRole('tab', { name: 'Usage' }).click()
  const requests = page.getByRole('group', { name: 'Usage by request' }).locator('tbody tr')
  const sent = await site.store.exchanges('local', await idOn(page))
  const input = sent.items.reduce((sum, one) => sum + (one.usage?.input ?? 0), 0)
  assert.equal(sent.items.length, 2)
  await seen(page.locator('.usage .facts'), `Input${input}From`)
  await requests.first().waitFor()
  assert.equal(await requests.count(), 1)
  await page.getByRole('button', { name: 'Show older' }).click()
  await requests.nth(1).waitFor()
  await seen(page.locator('.usage .facts'), `Input${input}From`)
})

pageTest('a summary that represents older turns is on the timeline, and can be taken back there', async ({ page }) => {
  for (const words of ['One', 'Two', 'Three', 'Four']) {
    await ask(page, `${words} is the number. `.repeat(40))
    await settled(page)
  }
  const id = await idOn(page)
  const asked = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' }
  const compacted = await fetch(`${site.url}/api/conversations/${id}/compact`, asked)
  assert.notEqual(await compacted.json(), null)
  await page.reload()
  await page.getByRole('tab', { name: 'Usage' }).click()
  const decisions = page.getByRole('region', { name: 'Decisions about what is sent' })
  await seen(decisions, 'A summary replaces earlier messages')
  await decisions.getByRole('button', { name: 'Undo' }).click()
  await decisions.getByRole('button', { name: 'Do again' }).waitFor()
  const [overlay] = await site.store.overlays('local', id)
  assert.equal(overlay?.undone, true)
  await decisions.getByRole('button', { name: 'Do again' }).click()
  await decisions.getByRole('button', { name: 'Undo' }).waitFor()
})

pageTest('an edited message is another branch, and both can be switched between', async ({ page }) => {
  await ask(page, 'My name is Ada')
  await seen(replies(page), 'Ada')
  await settled(page)
  await page.getByRole('article', { name: 'You' }).hover()
  await page.getByRole('button', { name: 'Edit' }).click()
  const editor = page.getByRole('textbox', { name: 'Edited message' })
  await editor.fill('My name is Grace')
  await editor.press('Enter')
  await seen(replies(page), 'Grace')
  await settled(page)
  const versions = page.getByRole('group', { name: 'Version 2 of 2' })
  await versions.getByRole('button', { name: 'Earlier version' }).click()
  await seen(page.getByRole('article', { name: 'You' }), 'My name is Ada')
  await seen(replies(page), 'Ada')
  await page.getByRole('button', { name: 'Later version' }).click()
  await seen(page.getByRole('article', { name: 'You' }), 'My name is Grace')
})

pageTest(
  'a run that is over before its request is answered is shown, be it an edit or another try',
  async ({ page }) => {
    site.replies.push(...['One', 'Two', 'Three'].map((text) => [{ type: 'text' as const, text: `Answer ${text}` }]))
    await ask(page, 'My name is Ada')
    await seen(replies(page), 'Answer One')
    await settled(page)
    await page.getByRole('article', { name: 'You' }).hover()
    await page.getByRole('button', { name: 'Edit' }).click()
    const editor = page.getByRole('textbox', { name: 'Edited message' })
    await editor.fill('My name is Grace')
    await answeredBehind(page, 'Answer Two', () => editor.press('Enter'))
    await replies(page).hover()
    await answeredBehind(page, 'Answer Three', () => page.getByRole('button', { name: 'Regenerate' }).click())
  },
)

/** Does what starts a run, and holds the server's answer to it back until the reply is shown; it must stay shown. */
async function answeredBehind(page: Page, words: string, act: () => Promise<void>): Promise<void> {
  const isStart = /\/(edit|retry)$/
  const hold = async (route: Route): Promise<void> => {
    const response = await route.fetch()
    await seen(replies(page), words)
    await settled(page)
    await route.fulfill({ response })
  }
  await page.route(isStart, hold, { times: 1 })
  const [answer] = await Promise.all([page.waitForResponse(isStart), act()])
  await answer.finished()
  await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn)))')
  assert.match((await replies(page).allTextContents()).join(), new RegExp(words))
}

pageTest('regenerating adds an alternative reply, and a fork continues from the middle', async ({ page }) => {
  site.replies.push([{ type: 'text', text: 'First answer' }], [{ type: 'text', text: 'Second answer' }])
  await ask(page, 'Answer twice')
  await seen(replies(page), 'First answer')
  await settled(page)
  await replies(page).hover()
  await page.getByRole('button', { name: 'Regenerate' }).click()
  await seen(replies(page), 'Second answer')
  await settled(page)
  await page.getByRole('group', { name: 'Version 2 of 2' }).waitFor()
  await ask(page, 'Continue')
  await replies(page).nth(1).waitFor()
  await settled(page)
  assert.equal(await replies(page).count(), 2)
  await replies(page).first().hover()
  await page.getByRole('button', { name: 'Fork from here' }).nth(1).click()
  await page.getByRole('article', { name: 'You' }).filter({ hasText: 'Continue' }).waitFor({ state: 'detached' })
  await ask(page, 'Elsewhere')
  await settled(page)
  await seen(page.getByRole('article', { name: 'You' }), 'Elsewhere')
  await page.getByRole('group', { name: 'Version 2 of 2' }).nth(1).waitFor()
})

pageTest(
  'a page that is loaded again in the middle of an answer shows it from its beginning to its end',
  async ({ page }) => {
    const words = eightyWords()
    site.replies.push([{ type: 'text', text: words }])
    site.hold(12)
    await ask(page, 'Tell me much')
    await seen(page.getByRole('article', { name: 'Answer, coming' }), 'word3')
    await page.reload()
    await seen(page.getByRole('article', { name: 'Answer, coming' }), 'word0 word1')
    site.release()
    await seen(replies(page), 'word79')
    await settled(page)
    assert.equal((await replies(page).locator('.markdown').textContent())?.trim(), words)
  },
)

pageTest(
  'a server that is started again in the middle of an answer continues with it, and so does the page',
  async ({ page }) => {
    site.replies.push([{ type: 'text', text: eightyWords() }], [{ type: 'text', text: eightyWords(100) }])
    site.hold(12)
    await ask(page, 'Tell me much')
    await seen(page.getByRole('article', { name: 'Answer, coming' }), 'word3')
    await site.restart()
    site.release()
    await seen(replies(page), eightyWords(100))
    await settled(page)
    await page.getByRole('group', { name: 'Version 2 of 2' }).waitFor()
    await ask(page, 'And more')
    await seen(replies(page), 'And more')
    assert.equal(await page.getByRole('alert').count(), 0)
  },
)

pageTest('an answer can be stopped, what was said is kept, and it can be resumed', async ({ page }) => {
  site.replies.push([{ type: 'text', text: eightyWords() }])
  site.hold(12)
  await ask(page, 'Tell me much')
  await seen(page.getByRole('article', { name: 'Answer, coming' }), 'word3')
  await page.getByRole('button', { name: 'Stop' }).click()
  await seen(page.locator('.notice'), 'Stopped. The partial reply is saved.')
  await seen(replies(page), 'word3')
  site.release()
  await page.getByRole('button', { name: 'Resume' }).click()
  await seen(replies(page), 'You said: "Continue."')
  await settled(page)
  assert.equal(await page.locator('.notice').count(), 0)
})

pageTest('two tabs on one conversation follow each other', async ({ page, context }) => {
  await ask(page, 'Hello from the first tab')
  await settled(page)
  const other = await context.newPage()
  const session = watched(other, context, site)
  await other.goto(`${site.url}/c/${await idOn(page)}`)
  await seen(other.getByRole('article', { name: 'You' }), 'Hello from the first tab')
  site.replies.push([{ type: 'text', text: eightyWords() }])
  site.hold(12)
  await say(other, 'Hello from the second tab')
  await seen(page.getByRole('article', { name: 'You' }), 'Hello from the second tab')
  await seen(page.getByRole('article', { name: 'Answer, coming' }), 'word3')
  site.release()
  for (const tab of [page, other]) {
    await seen(replies(tab), 'word79')
    await settled(tab)
    assert.equal(await replies(tab).count(), 2)
  }
  assert.deepEqual(session.errors, [])
})

pageTest('a refusal of a provider is shown with what to do, and a retry continues', async ({ page }) => {
  site.emulator.order({ status: 401 })
  await ask(page, 'Will fail')
  await seen(page.getByRole('alert'), 'The provider rejected the API key')
  await page.getByRole('button', { name: 'Try again' }).click()
  await seen(replies(page), 'Will fail')
})

pageTest('a search finds what was said, and leads to its place, on another branch too', async ({ page }) => {
  await ask(page, 'The password is xylophone')
  await settled(page)
  await page.getByRole('article', { name: 'You' }).hover()
  await page.getByRole('button', { name: 'Edit' }).click()
  await page.getByRole('textbox', { name: 'Edited message' }).fill('The password is something else')
  await page.getByRole('button', { name: 'Send' }).first().click()
  await seen(replies(page), 'something else')
  await settled(page)
  await page.getByRole('button', { name: 'New conversation' }).click()
  await page.getByRole('searchbox', { name: 'Search everything' }).fill('xylophone')
  await page.getByRole('list', { name: 'Search results' }).getByRole('link').last().click()
  await seen(page.getByRole('article', { name: 'You' }), 'xylophone')
  await seen(page.locator('.elsewhere'), 'another branch')
  await page.getByRole('button', { name: 'Continue here' }).click()
  await page.locator('.elsewhere').waitFor({ state: 'detached' })
})

pageTest('a conversation is renamed, labelled, filtered by its label, and deleted', async ({ page }) => {
  await ask(page, 'To be renamed')
  await settled(page)
  await page.getByRole('button', { name: 'This conversation', exact: true }).click()
  await page.getByRole('menuitem', { name: 'Rename and label' }).click()
  await page.getByLabel('Title').fill('Renamed')
  await page.getByLabel('Labels, separated by commas').fill('orchard')
  await page.getByRole('button', { name: 'Save' }).click()
  await seen(page.getByRole('heading', { level: 1 }), 'Renamed')
  await page.getByRole('group', { name: 'Labels' }).getByRole('button', { name: 'orchard' }).click()
  const list = page.getByRole('navigation', { name: 'Conversations' }).getByRole('link')
  await list.nth(1).waitFor({ state: 'detached' })
  assert.match((await list.textContent()) ?? '', /Renamed/)
  await page.getByRole('button', { name: 'This conversation', exact: true }).click()
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  await page.getByRole('button', { name: 'Delete', exact: true }).click()
  await seen(page.getByRole('heading', { level: 1 }), 'New conversation')
  await list.first().waitFor({ state: 'detached' })
})

pageTest('files go along by button, by paste and by drop', async ({ page }) => {
  const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=='
  const attached = page.getByRole('list', { name: 'Attached files' })
  await page.locator('input[type=file]').setInputFiles({
    name: 'dot.png',
    mimeType: 'image/png',
    buffer: Buffer.from(png, 'base64'),
  })
  await seen(attached, 'dot.png')
  await message(page).focus()
  await page.evaluate(`(() => {
    const data = new DataTransfer()
    data.items.add(new File(['a note'], 'note.txt', { type: 'text/plain' }))
    document.activeElement.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }))
  })()`)
  await seen(attached, 'note.txt')
  await page.getByRole('button', { name: 'Remove note.txt' }).click()

  const carried = await page.evaluateHandle(`(() => {
    const data = new DataTransfer()
    data.items.add(new File([Uint8Array.from(atob('${png}'), (c) => c.charCodeAt(0))], 'dropped.png', { type: 'image/png' }))
    return data
  })()`)
  const chat = page.locator('main.chat')
  const drag = { dataTransfer: carried }
  await chat.dispatchEvent('dragover', drag)
  await page.locator('main.is-over').waitFor()
  await chat.dispatchEvent('dragleave', drag)
  await page.locator('main.is-over').waitFor({ state: 'detached' })
  await chat.dispatchEvent('dragover', drag)
  await chat.dispatchEvent('drop', drag)
  await seen(attached, 'dropped.png')
  assert.equal(await page.locator('main.is-over').count(), 0)
  await ask(page, 'Look at this')
  await page.getByRole('img', { name: 'dot.png' }).waitFor()
  await page.getByRole('img', { name: 'dropped.png' }).waitFor()
  await seen(replies(page), 'It has 2 attachments')
})

pageTest('instructions of a conversation are sent', async ({ page }) => {
  await page.getByRole('button', { name: 'Settings of this conversation' }).click()
  await page.getByLabel('Instructions').fill('Always be brief.')
  await page.getByRole('button', { name: 'Save' }).click()
  await ask(page, 'What are your instructions?')
  await seen(replies(page), 'Always be brief.')
})

pageTest(
  'a tool that needs it runs only when it is allowed, also after the page was loaded again',
  async ({ page }) => {
    await ask(page, 'Use the tool send_mail with {"to":"ada@example.com"}')
    const card = page.locator('details.tool')
    await seen(card, 'Allow send_mail to run with these arguments?')
    await seen(page.locator('.notice'), 'A tool waits for you')
    await page.reload()
    await card.getByRole('button', { name: 'Allow once' }).click()
    await seen(replies(page), 'sent to "ada@example.com"')
    await settled(page)
    await ask(page, 'Use the tool send_mail with {"to":"eve@example.com"}')
    await card.getByRole('button', { name: 'Do not allow' }).click()
    await card.getByRole('button', { name: 'Deny' }).click()
    await seen(replies(page), 'send_mail failed')
  },
)
