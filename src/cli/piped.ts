// What was piped in: part of the question.

import { asFailure, badInput } from '../core/error.ts'

/** The words that were typed, and after them what came through a pipe. */
export async function questionOf(words: readonly string[]): Promise<string> {
  const piped = process.stdin.isTTY ? '' : await readAll(process.stdin)
  return [words.join(' '), piped.trimEnd()].filter((text) => text.trim() !== '').join('\n\n')
}

async function readAll(stream: NodeJS.ReadStream): Promise<string> {
  const chunks: Buffer[] = []
  try {
    for await (const chunk of stream) chunks.push(chunk as Buffer)
  } catch (error) {
    throw badInput(`What was piped in could not be read: ${asFailure(error).message}`)
  }
  const text = Buffer.concat(chunks).toString('utf8')
  if (text.includes('\u0000')) throw badInput('What was piped in is not text. Images and PDFs are given with -a.')
  return text
}
