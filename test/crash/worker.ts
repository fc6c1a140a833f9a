// A process that plays conversations until it is done or killed. Each line on stdout is an acknowledgement: the entry
// that it names has been promised to be durable.

import { writeSync } from 'node:fs'
import { play, scenarios, type Stage } from './play.ts'
import { openSynapse } from '../../src/runtime/open.ts'

const { url, owner, effects, requests, conversations } = JSON.parse(process.argv[2] ?? '') as WorkerTask

export interface WorkerTask extends Pick<Stage, 'owner' | 'effects' | 'requests'> {
  url: string
  conversations: { id: string; scenario: string }[]
}

const { store } = await openSynapse({ store: url, offline: true, env: {} })
try {
  await Promise.all(
    conversations.map(async ({ id, scenario }) => {
      const stage = { store, owner, conversationId: id, effects, requests }
      await play(stage, scenarios[scenario] ?? { turns: [] }, (event) => {
        if (event.type === 'message') writeSync(1, `${JSON.stringify({ conversation: id, entry: event.entryId })}\n`)
      })
    }),
  )
  writeSync(1, `${JSON.stringify({ done: true })}\n`)
} finally {
  await store.close()
}
