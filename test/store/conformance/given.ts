// What the conformance tests share.

import assert from 'node:assert/strict'
import { SynapseError, type ErrorKind } from '../../../src/core/error.ts'
import type { ReplyEvent } from '../../../src/core/event.ts'
import type { NewExchange, Store, StoreOptions } from '../../../src/store/store.ts'

export type Open = (options?: StoreOptions) => Promise<Store>

/** A test with its own store and owner. */
export type Given = (
  title: string,
  work: (store: Store, owner: string) => Promise<void>,
  options?: StoreOptions,
) => Promise<void>

/** The promise fails with this kind; gives the error for a closer look. */
export async function fails(promise: Promise<unknown>, kind: ErrorKind, code?: string): Promise<SynapseError> {
  const error = await promise.then(
    () => assert.fail(`expected a failure of kind ${kind}`),
    (thrown: unknown) => thrown,
  )
  assert.ok(error instanceof SynapseError, String(error))
  assert.equal(error.kind, kind, error.message)
  if (code !== undefined) assert.equal(error.failure.code, code, error.message)
  return error
}

export function request(basedOn: string, body: string | Uint8Array): NewExchange {
  return { basedOn, provider: 'openai', protocol: 'openai-chat', model: 'gpt-test', body }
}

export const delta = (text: string): ReplyEvent => ({ type: 'part-delta', index: 0, text })
