// What every store must do, run with each of them. Each test has its own owner, so that stores which share a database
// do not meet.

import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import type { Store, StoreOptions } from '../../src/store/store.ts'
import { blobTests } from './conformance/blobs.ts'
import { branchTests } from './conformance/branches.ts'
import { conversationTests } from './conformance/conversations.ts'
import { entryTests } from './conformance/entries.ts'
import { exchangeTests } from './conformance/exchanges.ts'
import type { Open } from './conformance/given.ts'
import { leaseTests } from './conformance/leases.ts'
import { besideTests } from './conformance/overlays-and-states.ts'
import { ownerTests } from './conformance/owners.ts'
import { toolTests } from './conformance/tool-runs.ts'

export function conformance(name: string, open: Open): void {
  const given = (title: string, work: (store: Store, owner: string) => Promise<void>, options?: StoreOptions) =>
    test(title, async () => {
      const store = await open(options)
      try {
        await work(store, `owner-${randomUUID()}`)
      } finally {
        await store.close()
      }
    })

  describe(`${name}: conversations`, () => conversationTests(given, open))
  describe(`${name}: entries`, () => entryTests(given))
  describe(`${name}: branches`, () => branchTests(given))
  describe(`${name}: exchanges`, () => exchangeTests(given))
  describe(`${name}: tool runs`, () => toolTests(given))
  describe(`${name}: overlays and states`, () => besideTests(given, open))
  describe(`${name}: blobs`, () => blobTests(given))
  describe(`${name}: leases`, () => leaseTests(given, open))
  describe(`${name}: owners`, () => ownerTests(given))
}
