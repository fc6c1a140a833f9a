// Messages that were sent while an answer was streaming: each is sent when the previous one is answered. After an
// answer that failed or was stopped nothing more is sent automatically.

import { effect, signal } from '@preact/signals'
import type { Part } from '../api/types.ts'
import { announce } from './announce.ts'
import { current, lastRun } from './conversation.ts'
import { send } from './actions.ts'
import { live } from './run.ts'

interface Queued {
  conversationId: string
  parts: Part[]
}

export const queue = signal<readonly Queued[]>([])

export function enqueue(parts: Part[]): void {
  const conversationId = current.value?.id
  if (conversationId === undefined) return
  queue.value = [...queue.value, { conversationId, parts }]
  announce('Queued: it is sent when this answer is done')
}

export function unqueue(item: Queued): void {
  queue.value = queue.value.filter((one) => one !== item)
}

effect(() => {
  const run = lastRun.value
  const next = queue.value.find((one) => one.conversationId === current.value?.id)
  if (!next || live.value || run?.state !== 'ended' || run.outcome !== 'done') return
  unqueue(next)
  void sendNext(next)
})

/** A message that was not accepted is not lost: it waits again. */
async function sendNext(next: Queued): Promise<void> {
  if (!(await send(next.parts))) queue.value = [next, ...queue.value]
}
