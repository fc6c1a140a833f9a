// Posts a request that generates no reply, such as one that counts tokens, and returns its JSON answer. Retries as
// replies do.

import type { Json } from '../core/json.ts'
import { sleep, type ReplyCall } from './reply.ts'
import { defaultRetry, retryWait } from './retry.ts'
import { send, SendError } from './send.ts'

type PostCall = Omit<ReplyCall, 'origin' | 'decoder' | 'whole'>

/** Throws a SendError when the last attempt has failed. */
export async function post(call: PostCall): Promise<Json> {
  const policy = { ...defaultRetry, ...call.retry }
  call.budget?.countRequest()
  for (let failed = 1; ; failed++) {
    try {
      return await postOnce(call)
    } catch (error) {
      if (!(error instanceof SendError)) throw error
      const wait = retryWait(error.failure, failed, error.advised, policy)
      if (wait === undefined || call.budget?.take() === false) throw error
      // If it is cancelled meanwhile, there is no next attempt.
      await (call.sleep ?? sleep)(wait, call.signal).catch(() => {})
    }
  }
}

async function postOnce(call: PostCall): Promise<Json> {
  // No decoder reads this answer.
  const protocol = { ...call.protocol, split: (whole: Json) => [whole] }
  let answer: Json = null
  await send({ ...call, protocol, whole: true }, (chunk) => {
    answer = chunk
    return 'stop'
  })
  return answer
}
