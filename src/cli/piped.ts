// Piped input: part of the question.

import { asFailure, badInput } from '../core/error.ts'

/** The typed words, followed by the piped input. */
export async function questionOf(words: readonly string[]): Promise<string> {
  const piped = process.stdin.isTTY ? '' : await readAll(process.stdin)
  return [words.join(' '), piped.trimEnd()].filter((text) => text.trim() !== '').join('\n\n')
}

async function readAll(stream: NodeJS.ReadStream): Promise<string> {
  const chunks: Buffer[] = []
  try {
    for await (const chunk of stream) chunks.push(chunk as Buffer)
  } catch (error) {
    throw badInput(`The piped input cannot be read: ${asFailure(error).message}`)
  }
  const text = Buffer.concat(chunks).toString('utf8')
  if (text.includes('\u0000')) throw badInput('The piped input is not text. Give images and PDFs with -a.')
  return text
}
