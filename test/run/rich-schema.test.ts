// A schema with everything that libraries write, through every wire: what a wire has no word for is left out with a
// note, and what the model sends is still checked against the whole of it.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as z from 'zod'
import { textOf } from '../../src/core/message.ts'
import { defineTool } from '../../src/run/tools/define-tool.ts'
import { someTargets } from '../targets.ts'
import { calling, only, collect, results, start } from './chatting.ts'

const place: z.ZodType = z
  .object({ name: z.string().min(1), inside: z.lazy(() => place.optional()) })
  .meta({ id: 'Place' })
const order = z.object({
  kind: z.literal('order'),
  when: z.union([z.iso.datetime(), z.null()]),
  size: z.int().gt(0).lte(100).multipleOf(5).default(5),
  code: z.string().regex(/^[A-Z]{3}\d+$/),
  tags: z
    .array(z.enum(['a', 'b']))
    .max(3)
    .optional(),
  pair: z.tuple([z.string(), z.number()]).optional(),
  more: z.record(z.string(), z.unknown()).optional(),
  place: place.optional(),
})
const tool = defineTool({
  name: 'order',
  description: 'Orders.',
  input: order,
  run: ({ code, size }) => `${code} ${size}`,
})
const right = { kind: 'order', when: null, size: 10, code: 'ABC1', place: { name: 'here', inside: { name: 'there' } } }

describe('a rich schema', () => {
  for (const target of someTargets) {
    test(`is accepted by ${target.provider}/${target.model} on ${target.protocol}`, async () => {
      const wrong = { ...right, code: 'abc', place: { name: 'here', inside: { name: '' } } }
      const { chat } = await start(
        { model: `${target.provider}/${target.model}`, protocol: target.protocol, tools: [tool] },
        { emulation: { reply: calling([{ name: 'order', input: wrong }], [{ name: 'order', input: right }]) } },
      )
      const events = await collect(chat.send('Order something.'))
      const [end] = only(events, 'run-end')
      assert.equal(end?.outcome, 'done', end?.failure?.message)
      const [first, second] = (await results(chat)).map(({ output }) => textOf(output))
      assert.match(first ?? '', /- code: /)
      assert.match(first ?? '', /- place\.inside\.name: /)
      assert.equal(second, 'ABC1 10')
    })
  }
})
