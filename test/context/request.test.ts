// A request as a whole: tools, answers, extra tools, size.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ToolSpec } from '../../src/core/context.ts'
import type { Message } from '../../src/core/message.ts'
import { assemble, estimateHead, type Assembled, type RequestDraft } from '../../src/context/assemble.ts'
import { estimateMessage, estimateTokens } from '../../src/context/count.ts'
import { openaiChat } from '../../src/wires/openai-chat/index.ts'
import { calls, reply, user } from '../histories.ts'
import { chatTarget } from './chat-target.ts'
import { long, turn } from './long-turns.ts'

describe('a request', () => {
  const made = (change: Partial<RequestDraft>): Assembled =>
    assemble({ history: [user('q')], protocol: openaiChat, target: chatTarget, ...change })

  test('has each tool once, in valid text, and as a function where the wire has no other kind', () => {
    const input = { type: 'object', properties: {} }
    const tools: ToolSpec[] = [
      { name: 'a', input },
      { name: 'b', description: 'x\ud800', input },
      { name: 'a', description: 'second', input },
    ]
    const { context, notes } = made({ tools })
    assert.deepEqual(
      context.tools.map(({ name, description }) => [name, description]),
      [
        ['a', undefined],
        ['b', 'x\ufffd'],
      ],
    )
    assert.equal(context.tools[0], tools[0], 'a tool that is clean stays the same object')
    assert.deepEqual(
      notes.filter(({ kind }) => kind === 'dropped').map(({ what }) => what),
      ['a second tool "a"'],
    )
    const free: ToolSpec = { name: 'c', kind: 'free-form', input, grammar: { syntax: 'lark', definition: 'start: A' } }
    const sent = (toolKinds: boolean) =>
      made({ tools: [free], target: { ...chatTarget, capabilities: { ...chatTarget.capabilities, toolKinds } } })
        .context.tools[0]
    assert.equal(sent(true), free)
    assert.match(sent(false)?.description ?? '', /must match this lark grammar/)
    assert.deepEqual(['grammar' in (sent(true) ?? {}), 'grammar' in (sent(false) ?? {})], [true, false])
    assert.equal(sent(false), sent(false))
  })

  test('says in words what its answer must be where the provider takes no schema', () => {
    const answerSchema = { type: 'object', properties: {} }
    const capabilities = { ...chatTarget.capabilities, answer: 'none' as const }
    const asked = made({ target: { ...chatTarget, options: { answerSchema }, capabilities } })
    assert.match(asked.context.system.at(-1)?.text ?? '', /fits the following JSON Schema/)
    assert.equal(asked.notes.filter(({ rule }) => rule === 'answer-format').length, 1)
    const tools = [{ name: 'a', input: {} }]
    const withTools = { ...chatTarget.capabilities, answer: 'schema' as const, answerWithTools: 'none' as const }
    const both = (given: ToolSpec[]) =>
      made({ tools: given, target: { ...chatTarget, options: { answerSchema }, capabilities: withTools } }).context
        .system.length
    assert.deepEqual([both([]), both(tools)], [0, 1])
    assert.deepEqual(made({}).context.system, [])
  })

  test('sends the tools of a provider with those of the caller, and alone as they are', () => {
    const extra = { tools: [{ type: 'web' }], other: 1 }
    const tools = [{ name: 'a', input: { type: 'object', properties: {} } }]
    const both = made({ tools, target: { ...chatTarget, options: { extra } } })
    assert.deepEqual(
      (both.body['tools'] as { type: string }[]).map(({ type }) => type),
      ['function', 'web'],
    )
    assert.equal(both.body['other'], 1)
    assert.equal(both.notes.filter(({ what }) => what === '1 tools of the provider').length, 1)
    const alone = made({ target: { ...chatTarget, options: { extra } } })
    assert.deepEqual(alone.body['tools'], extra.tools)
    assert.equal(
      alone.notes.some(({ what }) => what === '1 tools of the provider'),
      false,
    )
  })

  test('is estimated with its head, and tools count once each', () => {
    const tool = { name: 'a', description: 'b', input: {} }
    const head = estimateHead([{ type: 'text', text: 'some words' }], [tool, tool])
    assert.equal(head, estimateTokens('some words') + 2 * estimateTokens(JSON.stringify(tool)))
    assert.equal(estimateHead([], []), 0)
    const plain = made({ system: 'some words' })
    assert.equal(plain.estimate.input, estimateTokens('some words') + estimateMessage(user('q')))
  })

  test('of a log is planned from the same view again, and of other lists from what they are now', () => {
    const history = [user('q'), reply(calls('a'))]
    const listed = made({ history, fromLog: true })
    assert.equal(listed.context.fromLog, true)
    assert.equal(made({ history, fromLog: true }).seen.messages[0], listed.seen.messages[0])
    assert.equal('fromLog' in made({ history }).context, false)
    const changing = [user('q')]
    assert.equal(made({ history: changing }).seen.messages.length, 1)
    changing.push(user('r'))
    assert.equal(made({ history: changing }).seen.messages.length, 2)
  })

  test('that is too long is folded first, and cut down to its floor only then', () => {
    const turns = [user('q'), ...Array.from({ length: 20 }, (_, i) => turn(`c${i}`)).flat(), user('r')]
    const sized = (contextWindow: number, policy?: RequestDraft['policy']) => {
      const capabilities = { ...chatTarget.capabilities, contextWindow }
      const { notes, estimate } = made({
        history: turns,
        ...(policy !== undefined && { policy }),
        target: { ...chatTarget, capabilities },
      })
      return { rules: notes.map(({ rule }) => rule), size: estimate.input }
    }
    const whole = sized(1e6)
    assert.deepEqual(whole.rules, [])
    const window = (tokens: number) => Math.ceil(tokens / 0.92 / 0.8) + 1
    assert.deepEqual(sized(window(whole.size)).rules, [])
    assert.deepEqual(sized(window(whole.size) - 50).rules, ['tool-turns'])
    const folded = sized(window(whole.size) - 50).size
    assert.deepEqual(sized(window(folded)).rules, ['tool-turns'])
    const cut = sized(window(folded) - 50)
    assert.deepEqual(cut.rules, ['tool-turns', 'window'])
    assert.ok(cut.size <= folded / 2)
  })

  test('that is cut counts its system prompt as a part of what stays', () => {
    const capabilities = { ...chatTarget.capabilities, contextWindow: 10_000 }
    const limit = Math.floor(10_000 * 0.8 * 0.92)
    const history: Message[] = [{ role: 'system', parts: [{ type: 'text', text: long.repeat(4) }] }]
    for (let i = 0; i < 100; i++) {
      history.push(i % 2 === 0 ? user(long) : reply(long))
      const { estimate, notes } = made({ history, target: { ...chatTarget, capabilities } })
      if (notes.length === 0) assert.ok(estimate.input <= limit)
      else {
        assert.ok(estimate.input <= limit / 2, `${estimate.input} of ${limit}`)
        assert.ok(estimate.input > limit / 2 - 2 * estimateMessage(user(long)))
        return
      }
    }
    assert.fail('it was never cut')
  })
})
