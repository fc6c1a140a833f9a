// The content of a session, as digests turn by turn: two sessions with the same digests have the same texts, calls,
// arguments, results and images, however their formats group them.

import { createHash, hash } from 'node:crypto'
import { estimateTokens } from '../context/count.ts'
import { isOurMark } from '../transcripts/gemini-cli-write.ts'
import type { Step, UserStep } from '../transcripts/session.ts'

export interface Counts {
  userTexts: number
  assistantTexts: number
  calls: number
  results: number
  pictures: number
}

export interface TurnDigests {
  add(step: Step): void
  end(): { digests: string[]; counts: Counts; tokens: number; longestResult: number; failed: number }
}

const pictureTokens = 1600

export function turnDigests(): TurnDigests {
  const counts: Counts = { userTexts: 0, assistantTexts: 0, calls: 0, results: 0, pictures: 0 }
  const digests: string[] = []
  let tokens = 0
  let longestResult = 0
  let failed = 0
  let turn = newTurn()
  let isUser = true

  const content = (parts: UserStep['parts'], text: (text: string) => void): void => {
    for (const part of parts) {
      if (part.type === 'text') {
        if (isOurMark(part.text)) continue
        text(part.text)
        tokens += estimateTokens(part.text)
      } else {
        counts.pictures++
        tokens += pictureTokens
        turn.pictures.update(part.data.kind === 'base64' ? part.data.base64 : '')
      }
    }
  }
  const close = (): void => {
    if (!turn.isEmpty) digests.push(digestOf(turn))
    turn = newTurn()
  }
  return {
    add(step) {
      if (step.kind === 'user') {
        if (!isUser) close()
        isUser = true
        turn.isEmpty = false
        content(step.parts, (text) => {
          counts.userTexts++
          turn.user.update(text)
        })
        return
      }
      isUser = false
      turn.isEmpty = false
      for (const part of step.parts) {
        if (part.type === 'text') {
          counts.assistantTexts++
          tokens += estimateTokens(part.text)
          turn.assistant.update(part.text)
        } else {
          counts.calls++
          const input = JSON.stringify(part.input)
          tokens += estimateTokens(input)
          turn.calls.update(`${part.name} ${hash('sha256', input)}\n`)
        }
      }
      for (const result of step.results) {
        counts.results++
        if (result.failed) failed++
        let length = 0
        turn.results.update('\n')
        content(result.output, (text) => {
          length += text.length
          turn.results.update(text)
        })
        longestResult = Math.max(longestResult, length)
      }
    },
    end() {
      close()
      return { digests, counts, tokens: Math.round(tokens), longestResult, failed }
    },
  }
}

function newTurn() {
  const digest = () => createHash('sha256')
  return {
    user: digest(),
    assistant: digest(),
    calls: digest(),
    results: digest(),
    pictures: digest(),
    isEmpty: true,
  }
}

function digestOf({ user, assistant, calls, results, pictures }: ReturnType<typeof newTurn>): string {
  const parts = [user, assistant, calls, results, pictures].map((one) => one.digest('hex'))
  return hash('sha256', parts.join(' ')).slice(0, 16)
}
