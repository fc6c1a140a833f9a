// What the types of the library infer. Only compiled, never run: `@ts-expect-error` fails where there is no error. The test
// of the package compiles it against the types that are shipped.

import {
  defineTool,
  openSynapse,
  type Conversation,
  type DeepPartial,
  type Run,
  type RunEvent,
} from '../../src/index.ts'
import * as z from 'zod'

// The usual comparison of two types: the parameters are there to be compared.
/* oxlint-disable typescript/no-unnecessary-type-parameters */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const is = <T extends true>(): T => true as T
/* oxlint-enable typescript/no-unnecessary-type-parameters */

const city = z.object({ name: z.string(), rivers: z.array(z.string()), mayor: z.string().optional() })
interface City {
  name: string
  rivers: string[]
  mayor?: string | undefined
}

export async function inferred(): Promise<void> {
  const synapse = await openSynapse({ offline: true })

  const plain = await synapse.start({ model: 'openai' })
  is<Same<typeof plain, Conversation>>()
  is<Same<Awaited<ReturnType<Run['object']>>, unknown>>()

  const typed = await synapse.start({ model: 'openai', answer: city })
  const run = typed.send('Which city?')
  is<Same<Awaited<ReturnType<typeof run.object>>, City>>()
  const opened = await synapse.open(typed.id, { answer: city })
  is<Same<Awaited<ReturnType<ReturnType<typeof opened.send>['object']>>, City>>()
  const once = plain.send('How many?', { answer: z.number() })
  is<Same<Awaited<ReturnType<typeof once.object>>, number>>()
  for await (const partial of run.partialObjectStream) is<Same<typeof partial, DeepPartial<City>>>()
  for await (const text of run.textStream) is<Same<typeof text, string>>()
  for await (const event of run) is<Same<typeof event, RunEvent>>()

  defineTool({
    name: 'add',
    input: z.object({ a: z.number(), unit: z.string().default('m') }),
    run: ({ a, unit }) => is<Same<[typeof a, typeof unit], [number, string]>>(),
    ask: ({ a }) => a > 3,
  })
  defineTool<{ a: number }>({ name: 'add', input: { type: 'object' }, run: ({ a }) => is<Same<typeof a, number>>() })

  // @ts-expect-error: a model is needed
  await synapse.start({ system: 'Be brief.' })
  // @ts-expect-error: there is no such setting
  await synapse.start({ model: 'openai', sytem: 'Be brief.' })
  // @ts-expect-error: there is no such preset
  await synapse.start({ model: 'openai', policy: 'cheap' })
  // @ts-expect-error: a file search needs stores
  await synapse.start({ model: 'openai', options: { serverTools: [{ kind: 'file-search' }] } })
  // @ts-expect-error: the schema gives a number
  defineTool({ name: 'add', input: z.object({ a: z.number() }), run: ({ a }) => a.length })
}
