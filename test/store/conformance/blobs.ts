// The store contract: media and request bodies.

import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import type { Message } from '../../../src/core/message.ts'
import type { Archive } from '../../../src/store/archive.ts'
import { attachMedia } from '../../../src/store/media.ts'
import { user } from '../messages.ts'
import { fails, request, type Given } from './given.ts'

export function blobTests(given: Given): void {
  const picture = (seed: number, size: number) =>
    Buffer.from(Array.from({ length: size }, (_, i) => (i * 31 + seed * 7 + (i >> 8)) & 0xff))
  const image = (base64: string): Message => ({
    role: 'user',
    parts: [{ type: 'media', mediaType: 'image/png', name: 'p.png', data: { kind: 'base64', base64 } }],
  })

  given('large media go to the blobs, small media stay, and both come back', async (store, owner) => {
    const { id } = await store.createConversation(owner)
    const bytes = picture(1, 90_000)
    const message = image(bytes.toString('base64'))
    const entry = await store.append(owner, id, { message })
    const sha256 = hash('sha256', bytes)
    assert.deepEqual(entry.message.parts[0], { ...message.parts[0], data: { kind: 'blob', sha256 } })
    assert.deepEqual(await store.entry(owner, entry.id), entry)
    assert.ok(Buffer.from((await store.blob(owner, sha256)) ?? []).equals(bytes))
    assert.deepEqual(await attachMedia([entry.message], (hashed) => store.blob(owner, hashed)), [message])

    const small = image(picture(2, 1000).toString('base64'))
    assert.deepEqual((await store.append(owner, id, { message: small })).message, small)
    const odd = image(`${bytes.toString('base64')}\n`)
    assert.deepEqual((await store.append(owner, id, { message: odd })).message, odd)
    assert.equal(await store.blob(owner, '0'.repeat(64)), undefined)
  })

  given('media inside tool results go to the blobs too', async (store, owner) => {
    const { id } = await store.createConversation(owner)
    const base64 = picture(3, 80_000).toString('base64')
    const message: Message = {
      role: 'tool',
      parts: [
        {
          type: 'tool-result',
          callId: 'c',
          name: 'shot',
          output: [{ type: 'media', mediaType: 'image/png', data: { kind: 'base64', base64 } }],
        },
      ],
    }
    const entry = await store.append(owner, id, { message })
    assert.ok(JSON.stringify(entry.message).length < 500)
    assert.deepEqual(await attachMedia([entry.message], (sha256) => store.blob(owner, sha256)), [message])
  })

  given('a long conversation that is copied shares the blobs of its owner, and of no other', async (store, owner) => {
    const bytes = picture(5, 70_000)
    const from = await store.createConversation(owner)
    const { message } = await store.append(owner, from.id, { message: image(bytes.toString('base64')) })
    const at = '2026-11-01T00:00:00.000Z'
    const archive = (id: string): Archive => ({
      conversation: { id, labels: [], settings: {}, createdAt: at, head: `${id}-199` },
      branches: [],
      entries: Array.from({ length: 200 }, (_, i) => {
        return { id: `${id}-${i}`, parentId: i === 0 ? null : `${id}-${i - 1}`, at, message }
      }),
      exchanges: [],
      toolRuns: [],
      overlays: [],
    })
    const copy = await store.importConversation(owner, archive(`copy-of-${from.id}`))
    assert.equal(copy.entries, 200)
    await assert.rejects(store.importConversation(`${owner}-other`, archive(`stolen-${from.id}`)), { message: /blob/ })
    await store.deleteConversation(owner, from.id)
    assert.ok(Buffer.from((await store.blob(owner, hash('sha256', bytes))) ?? []).equals(bytes))
    assert.equal(await store.deleteConversation(owner, copy.id), true)
    assert.equal(await store.blob(owner, hash('sha256', bytes)), undefined)
  })

  given('a blob lives as long as some conversation uses it', async (store, owner) => {
    const bytes = picture(4, 70_000)
    const sha256 = hash('sha256', bytes)
    const message = image(bytes.toString('base64'))
    const one = await store.createConversation(owner)
    const two = await store.createConversation(owner)
    const { message: kept } = await store.append(owner, one.id, { message })
    // The second one names the blob without bringing it.
    await store.append(owner, two.id, { message: kept })
    await store.deleteConversation(owner, one.id)
    assert.ok(Buffer.from((await store.blob(owner, sha256)) ?? []).equals(bytes))
    await store.deleteConversation(owner, two.id)
    assert.equal(await store.blob(owner, sha256), undefined)
  })

  given('the request of a client is kept as it came, for as long as its conversation', async (store, owner) => {
    const { id } = await store.createConversation(owner)
    const body = `{ "model": "any", "text": "${'ä'.repeat(50_000)}" }`
    const sha256 = await store.keepBody(owner, id, body)
    assert.equal(sha256, hash('sha256', body))
    assert.equal(Buffer.from((await store.blob(owner, sha256)) ?? []).toString(), body)
    await fails(store.keepBody(`${owner}-stranger`, id, body), 'not-found')
    await store.deleteConversation(owner, id)
    assert.equal(await store.blob(owner, sha256), undefined)
  })

  given('knowing a hash gives no right to the bytes', async (store, owner) => {
    const bytes = picture(5, 70_000)
    const mine = await store.createConversation(owner)
    const { message } = await store.append(owner, mine.id, { message: image(bytes.toString('base64')) })
    const stranger = `${owner}-stranger`
    const theirs = await store.createConversation(stranger)
    await fails(store.append(stranger, theirs.id, { message }), 'not-found')
    assert.equal(await store.blob(stranger, hash('sha256', bytes)), undefined)
    assert.equal((await store.conversation(stranger, theirs.id))?.entries, 0)
  })

  given('bodies of any length and bytes come back exactly', async (store, owner) => {
    const { id } = await store.createConversation(owner)
    const entry = await store.append(owner, id, { message: user('x') })
    const long = 'the same beginning '.repeat(20_000)
    const bodies = ['', 'x', long, `${long}tail`, picture(6, 32_768), picture(6, 32_769), picture(6, 100_000)]
    for (const body of bodies) {
      const { bodySha256 } = await store.openExchange(owner, id, request(entry.id, body))
      assert.ok(Buffer.from((await store.blob(owner, bodySha256)) ?? 'gone').equals(Buffer.from(body)))
    }
  })
}
