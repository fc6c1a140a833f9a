// Reading files of one folder: read, list, search. Nothing outside of it is reached, and each answer has a limit.

import { realpathSync, constants } from 'node:fs'
import { readdir, open, realpath, type FileHandle } from 'node:fs/promises'
import { join, relative, isAbsolute, resolve, sep } from 'node:path'
import type { Tool } from '../../core/tool.ts'
import { textField, wholeField } from './input.ts'

const mostBytes = 256 * 1024
const mostSearchedBytes = 64 * 1024 * 1024
const mostEntries = 1000
const mostFiles = 20_000
const mostHits = 100
/** Folders without the user's own files. */
const skippedFolders = new Set(['.git', 'node_modules'])

export function fileTools(folder: string): Tool[] {
  return [readFile(folder), listFiles(folder), searchFiles(folder)]
}

function readFile(folder: string): Tool {
  return {
    name: 'read_file',
    description: 'Reads a text file of the folder, or some of its lines.',
    input: {
      type: 'object',
      properties: {
        path: { type: 'string', description: 'Relative to the folder.' },
        from: { type: 'integer', minimum: 1, description: 'The first line. Default: 1.' },
        lines: { type: 'integer', minimum: 1, description: 'How many lines. Default: all, up to a limit.' },
      },
      required: ['path'],
      additionalProperties: false,
    },
    ask: true,
    repeatable: true,
    async run(input) {
      const path = textField(input, 'path')
      const [from, count] = [wholeField(input, 'from') ?? 1, wholeField(input, 'lines') ?? Infinity]
      const file = await openInside(folder, path)
      try {
        const { size } = await file.stat()
        if (size > mostSearchedBytes) throw new Error(`${path} has ${size} bytes, which is too much`)
        const content = await file.readFile()
        if (content.subarray(0, 8192).includes(0)) throw new Error(`${path} is not a text file`)
        const all = content.toString('utf8').split('\n')
        const text = all.slice(from - 1, from - 1 + count).join('\n')
        if (Buffer.byteLength(text) <= mostBytes) return text
        const cut = Buffer.from(text).subarray(0, mostBytes).toString('utf8').toWellFormed()
        const last = from + cut.split('\n').length - 1
        return `${cut}\n[cut off in line ${last} of ${all.length}; continue with from: ${last}]`
      } finally {
        await file.close()
      }
    },
  }
}

function listFiles(folder: string): Tool {
  return {
    name: 'list_files',
    description: 'Lists the files of the folder and its subfolders. Folders end with a slash.',
    input: {
      type: 'object',
      properties: { path: { type: 'string', description: 'A folder in it. Default: all of it.' } },
      additionalProperties: false,
    },
    ask: true,
    repeatable: true,
    async run(input, { signal }) {
      const lines: string[] = []
      for await (const { path, kind } of entriesOf(folder, textField(input, 'path', '.'), signal)) {
        if (lines.length >= mostEntries) return `${lines.join('\n')}\n[and more: list a folder in it]`
        lines.push(kind === 'folder' ? `${path}/` : path)
      }
      return lines.join('\n') || 'It is empty.'
    },
  }
}

function searchFiles(folder: string): Tool {
  return {
    name: 'search_files',
    description: 'Finds the lines of text files in the folder that contain a text; case is ignored.',
    input: {
      type: 'object',
      properties: {
        text: { type: 'string', minLength: 1 },
        path: { type: 'string', description: 'A folder in it. Default: all of it.' },
      },
      required: ['text'],
      additionalProperties: false,
    },
    ask: true,
    repeatable: true,
    async run(input, { signal }) {
      const words = textField(input, 'text').toLowerCase()
      const hits: string[] = []
      let read = 0
      for await (const { path, kind } of entriesOf(folder, textField(input, 'path', '.'), signal)) {
        if (kind !== 'file') continue
        const content = await contentOf(folder, path)
        read += content?.length ?? 0
        for (const [index, line] of (content ?? '').split('\n').entries()) {
          if (!line.toLowerCase().includes(words)) continue
          hits.push(`${path}:${index + 1}: ${line.trim().slice(0, 300)}`)
          if (hits.length >= mostHits) return `${hits.join('\n')}\n[and more: search for more words]`
        }
        if (read > mostSearchedBytes) return `${hits.join('\n')}\n[not all files were searched: name a folder]`
      }
      return hits.join('\n') || 'Nothing was found.'
    },
  }
}

/** Undefined for anything that is not text, or too long. */
async function contentOf(folder: string, path: string): Promise<string | undefined> {
  try {
    const file = await openInside(folder, path)
    try {
      if ((await file.stat()).size > 4 * 1024 * 1024) return undefined
      const content = await file.readFile()
      return content.subarray(0, 8192).includes(0) ? undefined : content.toString('utf8')
    } finally {
      await file.close()
    }
  } catch {
    return undefined
  }
}

/** Everything below a folder, sorted; links are not followed. */
async function* entriesOf(
  folder: string,
  path: string,
  signal: AbortSignal,
): AsyncGenerator<{ path: string; kind: 'file' | 'folder' }> {
  const home = realpathSync(folder)
  const waiting = [await pathInside(folder, path)]
  let seen = 0
  for (let at = waiting.shift(); at !== undefined; at = waiting.shift()) {
    signal.throwIfAborted()
    const entries = await readdir(at, { withFileTypes: true }).catch(() => [])
    const below: string[] = []
    for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      if (seen++ > mostFiles) return
      const full = join(at, entry.name)
      if (entry.isFile()) yield { path: relative(home, full), kind: 'file' }
      else if (entry.isDirectory() && !skippedFolders.has(entry.name)) {
        yield { path: relative(home, full), kind: 'folder' }
        below.push(full)
      }
    }
    waiting.unshift(...below)
  }
}

// A file or folder inside of a chosen one. Neither ".." nor a link leads out of it: the resolved path is checked.

/** The resolved path; throws one sentence for the model if it is outside, or does not exist. */
async function pathInside(folder: string, path: string): Promise<string> {
  const home = realpathSync(folder)
  if (path.includes('\0')) throw new Error('a path has no zero characters')
  const real = await realpath(resolve(home, path)).catch(() => undefined)
  if (real !== undefined && isWithin(home, real)) return real
  // Whether something exists outside is not revealed.
  if (!isWithin(home, resolve(home, path)) || real !== undefined) throw new Error(`${path} is outside of the folder`)
  throw new Error(`there is no ${path}`)
}

/**
 * A regular file, open for reading: checked again after it was opened, because a link may have been put there since.
 */
async function openInside(folder: string, path: string): Promise<FileHandle> {
  const real = await pathInside(folder, path)
  const file = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const about = await file.stat()
    if (!about.isFile()) throw new Error(`${path} is not a file`)
    if ((await pathInside(folder, path)) !== real) throw new Error(`${path} was changed meanwhile`)
    return file
  } catch (error) {
    await file.close()
    throw error
  }
}

function isWithin(home: string, path: string): boolean {
  const way = relative(home, path)
  return !isAbsolute(way) && way.split(sep)[0] !== '..'
}
