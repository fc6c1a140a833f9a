// The same streams through our own entry points, as users call them: a conversation, a question, and all events of the
// run, in memory and in SQLite.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSynapse } from '../built.ts'
import { answering, type StreamPeer } from './answering.ts'

const models: Record<string, string> = {
  'openai-chat': 'openai/gpt-4o',
  'openai-responses': 'openai/gpt-5.1',
  'anthropic-messages': 'anthropic/claude-sonnet-4-5',
}

export async function apiReaders(): Promise<{ readers: StreamPeer[]; close(): Promise<void> }> {
  let chunks: readonly Uint8Array[] = []
  const folder = mkdtempSync(join(tmpdir(), 'synapse-bench-'))
  const common = {
    keys: { openai: 'none', anthropic: 'none' },
    transport: { fetch: () => answering(chunks)('') },
  }
  const opened = [await openSynapse(common), await openSynapse({ ...common, store: join(folder, 'log.db') })]
  const readers = ['Synapse, memory', 'Synapse, SQLite'].map((name, i): StreamPeer => ({
    name,
    async read(protocol, given) {
      chunks = given
      const chat = await opened[i]?.start({ model: models[protocol] ?? '', protocol })
      let seen = 0
      for await (const _ of chat?.send('Go.') ?? []) seen++
      return seen
    },
  }))
  return {
    readers,
    async close() {
      for (const one of opened) await one.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
