// A request that does not generate a reply, and its JSON answer, over as many attempts as needed.

import type { Json } from '../core/json.ts'
import { sleep, type ReplyCall } from './reply.ts'
import { defaultRetry, retryWait } from './retry.ts'
import { send, SendError } from './send.ts'

type Question = Omit<ReplyCall, 'origin' | 'decoder' | 'whole'>

/** Throws a SendError when the last attempt has failed. */
export async function post(question: Question): Promise<Json> {
  const policy = { ...defaultRetry, ...question.retry }
  question.budget?.asked()
  for (let failed = 1; ; failed++) {
    try {
      return await once(question)
    } catch (error) {
      if (!(error instanceof SendError)) throw error
      const wait = retryWait(error.failure, failed, error.advised, policy)
      if (wait === undefined || question.budget?.take() === false) throw error
      // If it was cancelled meanwhile, the next attempt is not made.
      await (question.sleep ?? sleep)(wait, question.signal).catch(() => {})
    }
  }
}

async function once(question: Question): Promise<Json> {
  // The answer is a special object that no decoder reads.
  const protocol = { ...question.protocol, split: (whole: Json) => [whole] }
  let answer: Json = null
  await send({ ...question, protocol, whole: true }, (chunk) => {
    answer = chunk
    return 'stop'
  })
  return answer
}
