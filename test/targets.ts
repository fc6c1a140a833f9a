// Every provider on every wire it serves, with a model that is typical for it: what the tables and properties run over.

import type { ToolSpec } from '../src/core/context.ts'
import { rows } from '../src/providers/rows.ts'
import { thorough } from './thorough.ts'

export interface TestTarget {
  provider: string
  protocol: string
  model: string
}

/** Models with special rules, in addition to each provider's default. */
const special: TestTarget[] = [
  { provider: 'anthropic', protocol: 'anthropic-messages', model: 'claude-sonnet-4-5' },
  { provider: 'anthropic', protocol: 'anthropic-messages', model: 'claude-opus-4-6' },
  { provider: 'anthropic', protocol: 'anthropic-messages', model: 'claude-opus-5-5' },
  { provider: 'openai', protocol: 'openai-chat', model: 'gpt-4o' },
  { provider: 'openai', protocol: 'openai-chat', model: 'gpt-5.6' },
  { provider: 'openai', protocol: 'openai-responses', model: 'gpt-4o' },
  { provider: 'google', protocol: 'gemini-generate', model: 'gemini-2.5-flash' },
  { provider: 'google', protocol: 'gemini-generate', model: 'gemini-3.8-flash' },
]

export const everyTarget: TestTarget[] = [
  ...rows.flatMap((row) =>
    row.wires.map((wire) => ({
      provider: row.id,
      protocol: wire.protocol,
      model: wire.defaultModel ?? row.defaultModel ?? 'a-model',
    })),
  ),
  ...special,
]

/** Of the many hosts of one wire some, for suites that take long: `npm run test:all` tries them all. */
export const someTargets: TestTarget[] = everyTarget.filter(
  (target, i) =>
    thorough ||
    special.includes(target) ||
    i % 4 === 0 ||
    everyTarget.findIndex(({ protocol }) => protocol === target.protocol) === i,
)

export const tools: ToolSpec[] = [
  {
    name: 'clock',
    description: 'Tells the time.',
    input: { type: 'object', properties: { zone: { type: 'string' } }, additionalProperties: false },
  },
  { name: 'fs.read file', input: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] } },
]
