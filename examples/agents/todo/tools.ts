// A todo list in a JSON file: TODO_FILE, or todo.json in the working directory.

import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Tool } from 'synapse'

interface Item {
  id: number
  title: string
  due?: string
  done: boolean
}

const date = { type: 'string', description: 'A date, such as 2026-12-24.', pattern: '^\\d{4}-\\d{2}-\\d{2}$' }
const id = { type: 'integer', description: 'The id of the item, as todo_list shows it.' }

export const add: Tool = {
  name: 'todo_add',
  description: 'Puts something on the list.',
  input: {
    type: 'object',
    properties: { title: { type: 'string', minLength: 1 }, due: date },
    required: ['title'],
    additionalProperties: false,
  },
  run(input) {
    const { title, due } = input as { title: string; due?: string }
    const items = read()
    const item: Item = { id: Math.max(0, ...items.map((one) => one.id)) + 1, title, ...(due && { due }), done: false }
    write([...items, item])
    return item
  },
}

export const list: Tool = {
  name: 'todo_list',
  description: 'Shows what is on the list: what is open, or everything.',
  input: { type: 'object', properties: { all: { type: 'boolean' } }, additionalProperties: false },
  repeatable: true,
  run(input) {
    const { all = false } = input as { all?: boolean }
    return { items: read().filter((item) => all || !item.done) }
  },
}

export const complete: Tool = {
  name: 'todo_complete',
  description: 'Marks an item as done.',
  input: { type: 'object', properties: { id }, required: ['id'], additionalProperties: false },
  repeatable: true,
  run: (input) => change((input as { id: number }).id, (item) => ({ ...item, done: true })),
}

export const reschedule: Tool = {
  name: 'todo_reschedule',
  description: 'Gives an item another date.',
  input: { type: 'object', properties: { id, due: date }, required: ['id', 'due'], additionalProperties: false },
  repeatable: true,
  run(input) {
    const { id: which, due } = input as { id: number; due: string }
    return change(which, (item) => ({ ...item, due }))
  },
}

function change(which: number, how: (item: Item) => Item): Item {
  const items = read()
  const item = items.find((one) => one.id === which)
  if (!item)
    throw new Error(`there is no item ${which}; the ids are ${items.map((one) => one.id).join(', ') || 'none'}`)
  const changed = how(item)
  write(items.map((one) => (one === item ? changed : one)))
  return changed
}

function file(): string {
  return resolve(process.env['TODO_FILE'] ?? 'todo.json')
}

function read(): Item[] {
  try {
    return JSON.parse(readFileSync(file(), 'utf8')) as Item[]
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw error
  }
}

/** In one step, so that a crash in between leaves the old list. */
function write(items: Item[]): void {
  const draft = `${file()}.${process.pid}.tmp`
  writeFileSync(draft, `${JSON.stringify(items, null, 2)}\n`)
  renameSync(draft, file())
}
