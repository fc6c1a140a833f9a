// What each hook changes, denies and notes, without a provider.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { HookEvent } from '../../src/core/event.ts'
import type { ToolResultPart } from '../../src/core/message.ts'
import type { Tool } from '../../src/core/tool.ts'
import { withHandoffs } from '../../src/run/handoff.ts'
import { afterReply, afterTool, beforeRequest, beforeTool } from '../../src/run/hooks.ts'
import type { LoopContext } from '../../src/run/run-context.ts'
import type { Hooks } from '../../src/settings/run.ts'
import { call, onePixel, reply, result } from '../histories.ts'

describe('hooks', () => {
  const told: HookEvent[] = []
  let settled = 0
  const context = (hooks: Hooks) =>
    ({
      conversationId: 'c',
      owner: 'o',
      context: 1,
      options: { temperature: 1, store: true },
      hooks,
      emit: (event: HookEvent) => told.push(event),
      pending: { settled: async () => void settled++ },
    }) as unknown as LoopContext
  const events = () =>
    told
      .splice(0)
      .map(({ hook, action, why, callId }) => [hook, action, why, ...(callId === undefined ? [] : [callId])])
  const about = { step: 1, kind: 'ask', model: 'm', messages: [] } as never
  const usual = 'a hook of the application'
  const asked = call('a', 'look', { x: 1 })
  const found = result('a', 'out').parts[0] as ToolResultPart

  test('before a request change the system and options of it, note it, or deny it', async () => {
    const ask = (given: object | undefined) => beforeRequest(context({ beforeRequest: () => given }), about)
    assert.deepEqual(await ask(undefined), {})
    assert.deepEqual(await ask({}), { hookNotes: [] })
    assert.deepEqual(events(), [])
    assert.deepEqual(await ask({ system: '' }), {
      hookNotes: [{ kind: 'changed', what: 'system', why: usual, rule: 'hook' }],
      system: [{ type: 'text', text: '' }],
    })
    assert.deepEqual(events(), [['beforeRequest', 'changed', usual]])
    const both = await ask({ system: 's', options: { temperature: 0 }, note: 'n' })
    assert.deepEqual(both.options, { temperature: 0, store: true })
    assert.deepEqual(
      both.hookNotes?.map(({ what, why }) => [what, why]),
      [
        ['system', 'n'],
        ['options', 'n'],
      ],
    )
    assert.deepEqual(events(), [['beforeRequest', 'changed', 'n']])
    assert.deepEqual((await ask({ note: 'n' })).hookNotes, [
      { kind: 'changed', what: 'nothing', why: 'n', rule: 'hook' },
    ])
    assert.deepEqual(events(), [['beforeRequest', 'noted', 'n']])
    await assert.rejects(async () => ask({ deny: 'no' }), /^SynapseError: no$/)
    assert.deepEqual(events(), [['beforeRequest', 'denied', 'no']])
  })

  test('after a reply end the run or note it, once earlier writes are stored', async () => {
    const after = (given: object | undefined) => afterReply(context({ afterReply: () => given }), reply('a'))
    settled = 0
    assert.deepEqual(
      [await after(undefined), await after({ note: 'n' }), await after({ deny: 'no' })],
      [undefined, undefined, 'no'],
    )
    assert.deepEqual(events(), [
      ['afterReply', 'noted', 'n'],
      ['afterReply', 'denied', 'no'],
    ])
    assert.equal(settled, 3)
    await afterReply(context({}), reply('a'))
    assert.equal(settled, 3, 'nothing is waited for without a hook')
  })

  test('before a tool change its arguments, note it or deny it', async () => {
    const before = (given: object | undefined) => beforeTool(context({ beforeTool: () => given }), asked)
    assert.deepEqual(await before(undefined), { call: asked })
    assert.deepEqual(await before({ input: { y: 2 } }), { call: { ...asked, input: { y: 2 } } })
    assert.deepEqual(events(), [['beforeTool', 'changed', usual, 'a']])
    assert.deepEqual(await before({ note: 'n' }), { call: asked })
    assert.deepEqual(events(), [['beforeTool', 'noted', 'n', 'a']])
    assert.deepEqual(await before({ deny: 'no' }), { deny: 'look was not run: no' })
    assert.deepEqual(events(), [['beforeTool', 'denied', 'no', 'a']])
  })

  test('after a tool replace its output, note it or deny it', async () => {
    const valued = { ...found, value: 'all' }
    const after = (given: object | undefined) => afterTool(context({ afterTool: () => given }), asked, valued)
    assert.equal(await after(undefined), valued)
    assert.equal(await after({ note: 'n' }), valued)
    assert.deepEqual(events(), [['afterTool', 'noted', 'n', 'a']])
    assert.deepEqual(await after({ output: 'new' }), { ...found, output: [{ type: 'text', text: 'new' }] })
    assert.deepEqual(events(), [['afterTool', 'changed', usual, 'a']])
    assert.deepEqual((await after({ output: [onePixel], note: 'n' })).output, [onePixel])
    assert.deepEqual(events(), [['afterTool', 'changed', 'n', 'a']])
    assert.deepEqual(await after({ deny: 'no' }), { ...found, output: [{ type: 'text', text: 'no' }], failed: true })
    assert.deepEqual(events(), [['afterTool', 'denied', 'no', 'a']])
  })

  test('a hand-off is a tool of its own name, the same one at each step', async () => {
    const taken: object[] = []
    const take = async (settings: object) => void taken.push(settings)
    const [a, b] = [
      { name: 'a', description: 'Knows A.', settings: { model: 'x' } },
      { name: 'b', settings: () => ({ model: 'y' }) },
    ]
    const own: Tool = { name: 'own', input: {}, run: () => 1 }
    const plain = { model: 'm' }
    assert.equal(withHandoffs(plain, take), plain)
    const settings = { model: 'm', tools: [own], handoffs: [a, b] } as never
    const made = withHandoffs(settings, take).tools ?? []
    assert.deepEqual(
      made.map(({ name }) => name),
      ['own', 'hand_off_to_a', 'hand_off_to_b'],
    )
    assert.equal(made[1]?.repeatable, true)
    assert.match(made[1]?.description ?? '', /then on\. Knows A\.$/)
    assert.match(made[2]?.description ?? '', /then on\.$/)
    const again = withHandoffs(settings, take).tools ?? []
    for (const i of [1, 2]) assert.equal(again[i], made[i])
    assert.equal(await made[1]?.run({}, {} as never), 'a continues.')
    await made[2]?.run({}, {} as never)
    assert.deepEqual(taken, [{ model: 'x' }, { model: 'y' }])
  })
})
