// Piped input: part of the question.

import { asFailure, badInput, SynapseError } from '../core/error.ts'
import { mostOfQuestion, tooLarge } from './text-file.ts'

/** The typed words, followed by the piped input. */
export async function questionOf(words: readonly string[]): Promise<string> {
  const piped = process.stdin.isTTY ? '' : await readAll(process.stdin)
  return [words.join(' '), piped.trimEnd()].filter((text) => text.trim() !== '').join('\n\n')
}

async function readAll(stream: NodeJS.ReadStream): Promise<string> {
  const name = 'The piped input'
  const chunks: Buffer[] = []
  try {
    let size = 0
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      size += chunk.length
      if (size > mostOfQuestion) throw tooLarge(name, mostOfQuestion)
      chunks.push(chunk)
    }
  } catch (error) {
    if (error instanceof SynapseError) throw error
    throw badInput(`The piped input cannot be read: ${asFailure(error).message}`)
  }
  const text = Buffer.concat(chunks).toString('utf8')
  if (text.includes('\u0000')) throw badInput('The piped input is not text. Give images and PDFs with -a.')
  return text
}
