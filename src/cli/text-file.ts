// The content of a file, or of a pipe (as `-`), or one sentence that says why not. It is read up to a limit: a device
// or a pipe may have no end, and its size is not known before.

import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { asFailure, badInput, errorMessage, SynapseError } from '../core/error.ts'

/** A transcript is one value in memory, and a string has at most half a billion characters. */
export const mostOfTranscript = 400 * 1024 * 1024

/** What goes along with a question: more than any model reads. */
export const mostOfQuestion = 64 * 1024 * 1024

export function contentOf(file: string, maxBytes: number): string {
  // Some editors write a byte order mark first, which is not part of the text.
  return bytesOf(file === '-' ? 0 : file, maxBytes)
    .toString('utf8')
    .replace(/^\uFEFF/, '')
}

export function bytesOf(file: string | 0, maxBytes: number): Buffer {
  const name = file === 0 ? 'The piped input' : file
  let opened: number | undefined
  try {
    opened = file === 0 ? 0 : openSync(file, 'r')
    return readUpTo(opened, maxBytes, name)
  } catch (error) {
    if (error instanceof SynapseError) throw error
    const code = error instanceof Error && 'code' in error ? error.code : ''
    if (code === 'ENOENT') throw badInput(`There is no file ${name}.`)
    if (code === 'EISDIR') throw badInput(`${name} is a folder, not a file.`)
    throw badInput(`${name} cannot be read: ${errorMessage(error)}.`)
  } finally {
    if (opened !== undefined && opened !== 0) closeSync(opened)
  }
}

function readUpTo(opened: number, maxBytes: number, name: string): Buffer {
  if (fstatSync(opened).size > maxBytes) throw tooLarge(name, maxBytes)
  const chunks: Buffer[] = []
  const buffer = Buffer.allocUnsafe(1024 * 1024)
  for (let size = 0; ;) {
    const read = readSync(opened, buffer)
    if (read === 0) return Buffer.concat(chunks)
    size += read
    if (size > maxBytes) throw tooLarge(name, maxBytes)
    chunks.push(Buffer.from(buffer.subarray(0, read)))
  }
}

function tooLarge(name: string, maxBytes: number): SynapseError {
  return badInput(`${name} is larger than ${maxBytes / 1024 / 1024} MB.`)
}

// Piped input: part of the question.

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
