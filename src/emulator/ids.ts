// Ids that the emulator hands out: the same for the same request, so that runs can be compared, and never twice, because
// what is sent again gets a number.

import { createHash } from 'node:crypto'

export interface Ids {
  /** The id of the reply to this request. */
  reply(protocol: string, request: string): string
}

const replyPrefixes: Record<string, string> = {
  'openai-chat': 'chatcmpl-',
  'openai-responses': 'resp_',
  'anthropic-messages': 'msg_',
  'gemini-interactions': 'v1_',
}

export function createIds(): Ids {
  const seen = new Map<string, number>()
  return {
    reply(protocol, request) {
      const name = createHash('sha256').update(request).digest('base64url')
      const times = (seen.get(name) ?? 0) + 1
      seen.set(name, times)
      return `${replyPrefixes[protocol] ?? ''}${lettersFrom(`${name} ${times}`, 24)}`
    },
  }
}

/** The id of a reply's n-th call, in the form of the wire. */
export function callId(protocol: string, replyId: string, n: number): string {
  const seed = `${replyId} ${n}`
  if (protocol === 'mistral-chat') return lettersFrom(seed, 9)
  return protocol === 'anthropic-messages' ? `toolu_${lettersFrom(seed, 24)}` : `call_${lettersFrom(seed, 24)}`
}

const letters = '0123456789ABCDEFGHJKMNPQRSTVWXYZabcdefghjkmnpqrstvwxyz'

export function lettersFrom(seed: string, length: number): string {
  const bytes = createHash('sha512').update(seed).digest()
  let text = ''
  for (let i = 0; i < length; i++) text += letters[(bytes[i] ?? 0) % letters.length]
  return text
}
