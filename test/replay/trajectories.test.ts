// Real conversations, cut where a window or a crash would cut them, sent to every provider: P2 on other people's data.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import test from 'node:test'
import type { Json } from '../../src/core/json.ts'
import type { Message } from '../../src/core/message.ts'
import { prepare, readTranscript, refuse, writeTranscript } from '../../src/index.ts'
import { corpusFiles, noCorpus } from '../corpus.ts'
import { everyTarget } from '../targets.ts'
import { thorough } from '../thorough.ts'

const files = corpusFiles('trajectories/*/*.{json,jsonl}')

/** Each is read once: that takes longer than most of what is done with it. */
const conversations = new Map<string, ReturnType<typeof readTranscript> & { text: string }>()

function conversation(file: string) {
  const known = conversations.get(file)
  if (known) return known
  const text = readFileSync(file, 'utf8')
  const read = { ...readTranscript(text), text }
  conversations.set(file, read)
  return read
}

/** All cuts of all files on all targets would take hours; `SYNAPSE_CUTS=all` runs them. */
const cutsPerFile = process.env['SYNAPSE_CUTS'] === 'all' ? Infinity : thorough ? 12 : 3

test('every recorded conversation is recognised and read', { skip: noCorpus }, (t) => {
  const formats = new Map<string, number>()
  for (const file of files) {
    const { format, messages } = conversation(file)
    assert.ok(messages.length > 0, file)
    formats.set(format, (formats.get(format) ?? 0) + 1)
  }
  t.diagnostic(`${files.length} conversations: ${[...formats].map(([name, n]) => `${n} ${name}`).join(', ')}`)
})

test('every recorded conversation is written unchanged in its own format', { skip: noCorpus }, (t) => {
  let same = 0
  for (const file of files) {
    const { text, format, messages } = conversation(file)
    assert.deepEqual(writeTranscript(messages, format), bareList(text), basename(file))
    same++
  }
  t.diagnostic(`${same} files`)
})

test('every conversation × cut × provider is a request that is not refused', { skip: noCorpus }, (t) => {
  let requests = 0
  for (const [n, file] of files.entries()) {
    const { messages, system, tools } = conversation(file)
    for (const [i, cut] of cutsOf(messages).entries()) {
      const share = thorough ? 6 : 96
      // Each cut goes to a few targets; over all cuts of all files every target gets its share.
      const targets =
        cutsPerFile === Infinity ? everyTarget : everyTarget.filter((_, j) => j % share === (n + i) % share)
      for (const target of targets) {
        const { body } = prepare({ ...target, messages: cut, ...(system && { system }), ...(tools && { tools }) })
        const issues = refuse(target.protocol, body, target)
        assert.deepEqual(issues.slice(0, 1), [], `${basename(file)} (cut ${i}) on ${target.provider}/${target.model}`)
        requests++
      }
    }
  }
  t.diagnostic(`${requests} requests`)
})

/** The whole, and cuts spread over the conversation: beginnings (a crash) and ends (a window) in turn. */
function cutsOf(messages: Message[]): Message[][] {
  const places = Math.min(cutsPerFile, messages.length)
  const cuts = Array.from({ length: places }, (_, i) => {
    const at = Math.floor(((i + 1) * messages.length) / (places + 1))
    return i % 2 === 0 ? messages.slice(0, at) : messages.slice(at)
  })
  return [messages, ...cuts].filter((cut) => cut.length > 0)
}

/** The list inside a file, under whatever name its format keeps it; for JSONL its lines. */
function bareList(text: string): Json {
  let value: Json
  try {
    value = JSON.parse(text) as Json
  } catch {
    return text
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map((line) => JSON.parse(line) as Json)
  }
  if (Array.isArray(value)) return value
  const wrapped = value as { [key: string]: Json }
  const inner = (wrapped['simulation'] ?? wrapped) as { [key: string]: Json }
  return inner['messages'] ?? inner['traj'] ?? inner['history'] ?? inner['input'] ?? inner['contents'] ?? value
}
