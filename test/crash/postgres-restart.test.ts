// A PostgreSQL that goes away in the middle of a run and comes back: the run ends with a sentence, the process lives,
// and the conversation continues.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { openSynapse } from '../../src/runtime/open.ts'
import { openPostgresStore } from '../../src/store/postgres.ts'
import { createEmulator } from '../../src/testing.ts'
import { gate } from '../server/serving.ts'
import { findPostgres, makePostgres } from '../store/postgres-server.ts'
import { tempFolder } from '../store/temp.ts'
import { checkRecovered, inOrder, inspectWreck } from './invariants.ts'
import { play, scenarios, type Stage } from './play.ts'
import { reasonToSkip } from './stores.ts'

test(
  'a server that restarts in the middle of a run costs the run, not the conversation',
  { skip: reasonToSkip('postgres') },
  async (t) => {
    const server = await makePostgres(findPostgres() ?? '')
    t.after(() => server.remove())
    await server.start()
    const store = await openPostgresStore(server.url)
    const folder = tempFolder(t)
    const stage = async (): Promise<Stage> => {
      const { id } = await store.createConversation('ada')
      return {
        store,
        owner: 'ada',
        conversationId: id,
        effects: join(folder, 'effects'),
        requests: join(folder, 'requests'),
      }
    }
    const scenario = scenarios['text'] ?? assert.fail()
    const calm = await stage()
    await play(calm, scenario)
    const { head } = (await store.conversation('ada', calm.conversationId)) ?? {}
    const expected = inOrder((await store.history('ada', head ?? '')).map((entry) => entry.message))

    for (const how of ['SIGINT', 'SIGQUIT'] as const) {
      const victim = await stage()
      const emulator = createEmulator()
      const held = gate(6)
      const offline = { ...emulator, fetch: held.between(emulator.fetch) }
      const synapse = await openSynapse({ store, owner: 'ada', offline, env: {} })
      const chat = await synapse.open(victim.conversationId, { model: scenario.turns[0]?.model ?? '' })
      const run = chat.send(scenario.turns[0]?.text ?? '')
      await held.held
      await server.stop(how)
      held.open()
      const { outcome, failure } = await run.ended
      assert.deepEqual([outcome, failure?.kind], ['failed', 'storage'], failure?.message)
      await server.start()
      const wreck = await inspectWreck(victim, [])
      await play(victim, scenario)
      await checkRecovered(victim, wreck, expected)
    }
    await store.close()
  },
)
