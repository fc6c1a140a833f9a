// What a call would change in a file, shown when approval is requested: a write as a diff against the current content
// of the file, an edit as the lines that it removes and adds. Calls are recognised by their arguments, under the names
// used by the tools of editors, coding agents and MCP servers.

import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs'
import { isObject, type Json } from '../../core/json.ts'
import { lineDiff, type DiffLine } from '../../core/line-diff.ts'
import type { ToolCallPart } from '../../core/message.ts'

export interface CallDiff {
  path: string
  lines: DiffLine[]
}

const pathNames = ['path', 'file_path', 'filePath', 'filename', 'file']
const contentNames = ['content', 'contents', 'file_text', 'text']
const oldNames = ['old_string', 'old_str', 'oldText', 'old_text', 'oldString']
const newNames = ['new_string', 'new_str', 'newText', 'new_text', 'newString']
const mostLines = 2000

/**
 * Undefined for other calls. `read` returns the current content of a file; undefined if it does not exist or must not
 * be read.
 */
export function callDiff(
  { name, input }: Pick<ToolCallPart, 'name' | 'input'>,
  read: (path: string) => string | undefined,
): CallDiff | undefined {
  const path = textIn(input, pathNames)
  if (path === undefined) return undefined
  const edits = editsIn(input)
  if (edits.length > 0) {
    const lines = edits.flatMap(({ before, after }, index) => [
      ...(index > 0 ? [{ sign: '…', text: '' } as const] : []),
      ...lineDiff(before.split('\n'), after.split('\n')),
    ])
    return { path, lines: limited(lines) }
  }
  const content = textIn(input, contentNames)
  if (content === undefined || !/write|create|save|put|edit|update|append/i.test(name)) return undefined
  const before = read(path)
  const old = before === undefined ? [] : before.split('\n')
  const isAppended = /append/i.test(name)
  return { path, lines: limited(lineDiff(old, isAppended ? [...old, ...content.split('\n')] : content.split('\n'))) }
}

function editsIn(input: Json): { before: string; after: string }[] {
  const single = editIn(input)
  const list = isObject(input) ? input['edits'] : undefined
  return [...(single ? [single] : []), ...(Array.isArray(list) ? list.flatMap((edit) => editIn(edit) ?? []) : [])]
}

function editIn(value: Json): { before: string; after: string } | undefined {
  const [before, after] = [textIn(value, oldNames), textIn(value, newNames)]
  return before === undefined || after === undefined ? undefined : { before, after }
}

function textIn(value: Json, names: readonly string[]): string | undefined {
  if (!isObject(value)) return undefined
  return names.map((name) => value[name]).find((field) => typeof field === 'string')
}

function limited(lines: DiffLine[]): DiffLine[] {
  if (lines.length <= mostLines) return lines
  return [...lines.slice(0, mostLines), { sign: '…', text: `${lines.length - mostLines} more lines` }]
}

const mostBytes = 1024 * 1024

/** The current content of a file; undefined if it does not exist, is not text, or is too long to be compared. */
export function fileContent(path: string): string | undefined {
  try {
    const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
    try {
      const stat = fstatSync(file)
      if (!stat.isFile() || stat.size > mostBytes) return undefined
      const content = readFileSync(file)
      return content.includes(0) ? undefined : content.toString('utf8')
    } finally {
      closeSync(file)
    }
  } catch {
    return undefined
  }
}
