// The store contract: heads and branches.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { Store } from '../../../src/store/store.ts'
import { reply, textsOf, user } from '../messages.ts'
import { fails, type Given } from './given.ts'

export function branchTests(given: Given): void {
  const story = async (store: Store, owner: string) => {
    const { id } = await store.createConversation(owner)
    const question = await store.append(owner, id, { message: user('question') })
    const first = await store.append(owner, id, { message: reply('first answer') })
    return { id, question, first }
  }

  given('a fork is the head moved back: the original stays', async (store, owner) => {
    const { id, question, first } = await story(store, owner)
    const moved = await store.setHead(owner, id, { entryId: question.id })
    assert.equal(moved.head, question.id)
    assert.equal(moved.entries, 2)
    const second = await store.append(owner, id, { message: reply('second answer') })
    assert.deepEqual(textsOf(await store.children(owner, id, question.id)), ['first answer', 'second answer'])
    const branches = await store.branches(owner, id)
    assert.deepEqual(
      branches.map(({ entryId, current, depth }) => ({ entryId, current, depth })),
      [
        { entryId: second.id, current: true, depth: 1 },
        { entryId: first.id, current: false, depth: 1 },
      ],
    )
    await store.setHead(owner, id, { entryId: null })
    const root = await store.append(owner, id, { message: user('from the start') })
    assert.equal(root.parentId, null)
  })

  given('a named branch moves with the head that is on it', async (store, owner) => {
    const { id, question, first } = await story(store, owner)
    await store.nameBranch(owner, id, 'main', first.id)
    assert.equal((await store.setHead(owner, id, { branch: 'main' })).branch, 'main')
    const next = await store.append(owner, id, { message: user('more') })
    await store.nameBranch(owner, id, 'draft', question.id)
    const named = (await store.branches(owner, id)).map(({ name, entryId, current }) => ({ name, entryId, current }))
    assert.deepEqual(named, [
      { name: 'draft', entryId: question.id, current: false },
      { name: 'main', entryId: next.id, current: true },
    ])
    // A plain entry leaves the branch where it is.
    assert.equal('branch' in (await store.setHead(owner, id, { entryId: question.id })), false)
    await store.append(owner, id, { message: reply('apart') })
    assert.equal((await store.setHead(owner, id, { branch: 'main' })).head, next.id)
    const forked = await store.append(owner, id, { message: reply('x'), parentId: question.id, head: 'move' })
    const now = await store.conversation(owner, id)
    assert.deepEqual([now?.head, now?.branch], [forked.id, undefined])
  })

  given('a name can be moved and taken away, and the entries stay', async (store, owner) => {
    const { id, question, first } = await story(store, owner)
    await store.nameBranch(owner, id, 'main', first.id)
    await store.setHead(owner, id, { branch: 'main' })
    await store.nameBranch(owner, id, 'main', question.id)
    const now = await store.conversation(owner, id)
    assert.deepEqual([now?.head, now?.branch], [first.id, undefined])
    await store.setHead(owner, id, { branch: 'main' })
    await store.dropBranch(owner, id, 'main')
    await store.dropBranch(owner, id, 'never was')
    const later = await store.conversation(owner, id)
    assert.deepEqual([later?.head, later?.branch, later?.entries], [question.id, undefined, 2])
    await fails(store.setHead(owner, id, { branch: 'main' }), 'not-found')
    await fails(store.setHead(owner, id, { entryId: randomUUID() }), 'not-found')
    await fails(store.nameBranch(owner, id, 'x', randomUUID()), 'not-found')
  })

  given('the tree can be drawn without its messages', async (store, owner) => {
    const { id, question, first } = await story(store, owner)
    assert.deepEqual(await store.outline(owner, id), [
      { id: question.id, parentId: null, depth: 0, role: 'user', at: question.at },
      { id: first.id, parentId: question.id, depth: 1, role: 'assistant', at: first.at },
    ])
  })
}
