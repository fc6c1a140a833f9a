// The chat templates of open models, stored next to the repository, and histories that show what a template leaves out:
// every text, argument and result in them is a unique word that must be in the prompt.

import { existsSync, globSync } from 'node:fs'
import { basename, join } from 'node:path'
import { isObject, type Json } from '../../src/core/json.ts'
import type { Message } from '../../src/core/message.ts'
import { prepare } from '../../src/index.ts'
import { rows } from '../../src/providers/rows.ts'
import type { ProviderRow } from '../../src/providers/provider.ts'
import type { Quirks } from '../../src/wires/wire.ts'
import { call, failure, reply, result, user } from '../histories.ts'
import { tools } from '../targets.ts'
import { noLlama, type LlamaServer } from './server.ts'

const folder = join(import.meta.dirname, '..', '..', '..', 'shared', 'templates')

/** For the `skip` option of a test: false, or the reason. */
export const noTemplates: string | false =
  noLlama || (existsSync(folder) ? false : 'the chat templates are not on this machine')

export const templateFiles: string[] = globSync('*.jinja', { cwd: folder })
  .toSorted()
  .map((file) => join(folder, file))

export function templateName(file: string): string {
  return basename(file, '.jinja')
}

interface Probe {
  system?: string
  messages: Message[]
}

const ask = user('ask-apple')
const clock = (id: string, zone: string) => call(id, 'clock', { zone })

export const probes: Record<string, Probe> = {
  'a chat': { messages: [ask, reply('say-banana'), user('ask-cherry')] },
  'a chat with a system prompt': { system: 'rule-damson', messages: [ask, reply('say-banana'), user('ask-cherry')] },
  'one call': { messages: [ask, reply(clock('c1', 'zone-elder')), result('c1', 'gives-fig', 'clock')] },
  'a call without arguments': {
    messages: [
      ask,
      reply(call('c1', 'clock', {})),
      result('c1', 'gives-fig', 'clock'),
      reply('say-grape'),
      user('ask-hazel'),
    ],
  },
  'a call with nested arguments': {
    messages: [
      ask,
      reply(call('c1', 'clock', { zone: 'zone-elder', others: { all: ['zone-lemon', { of: 'zone-quince' }] } })),
      result('c1', 'gives-fig', 'clock'),
      reply('say-grape'),
      user('ask-hazel'),
    ],
  },
  'text beside a call': {
    system: 'rule-damson',
    messages: [
      ask,
      reply('say-banana', clock('c1', 'zone-elder')),
      result('c1', 'gives-fig', 'clock'),
      reply('say-grape'),
    ],
  },
  'two calls at once': {
    messages: [
      ask,
      reply(clock('c1', 'zone-elder'), clock('c2', 'zone-lemon')),
      result('c1', 'gives-fig', 'clock'),
      result('c2', 'gives-mango', 'clock'),
      reply('say-grape'),
      user('ask-hazel'),
    ],
  },
  'text beside two calls at once': {
    messages: [
      ask,
      reply('say-banana', clock('c1', 'zone-elder'), clock('c2', 'zone-lemon')),
      result('c1', 'gives-fig', 'clock'),
      result('c2', 'gives-mango', 'clock'),
    ],
  },
  'calls one after the other, the last of them failed': {
    messages: [
      ask,
      reply(clock('c1', 'zone-elder')),
      result('c1', 'gives-fig', 'clock'),
      reply('say-banana', clock('c2', 'zone-lemon')),
      failure('c2', 'gives-mango', 'clock'),
    ],
  },
  'a question right after a result': {
    messages: [ask, reply(clock('c1', 'zone-elder')), result('c1', 'gives-fig', 'clock'), user('ask-hazel')],
  },
  'two questions in a row': { messages: [ask, user('ask-cherry'), reply('say-banana'), user('ask-hazel')] },
  'a history that was cut before a reply': { messages: [reply('say-banana'), user('ask-cherry')] },
  'a system message in the middle': {
    system: 'rule-damson',
    messages: [
      ask,
      reply('say-banana'),
      { role: 'system', parts: [{ type: 'text', text: 'rule-nectar' }] },
      user('ask-cherry'),
    ],
  },
}

/** Everything that the history says, as words of which no other word is a part. */
function wordsIn(probe: Probe): string[] {
  return JSON.stringify(probe).match(/(?:ask|say|rule|zone|gives)-[a-z]+/g) ?? []
}

function rowWith(quirks: Quirks): ProviderRow {
  const row = rows.find(({ id }) => id === 'llama.cpp')
  const [wire] = row?.wires ?? []
  if (!row || !wire) throw new Error('there is no row for llama.cpp')
  return {
    ...row,
    wires: [{ ...wire, quirks: { ...wire.quirks, separateCalls: false, oneCallPerTurn: false, ...quirks } }],
  }
}

/** What is wrong with the prompt that the server makes of a probe: a refusal, or words that are missing. */
export async function faultOf(
  server: LlamaServer,
  name: string,
  quirks: Quirks,
  withTools: boolean,
): Promise<string | undefined> {
  const probe = probes[name]
  if (!probe) throw new Error(`there is no probe "${name}"`)
  const { body } = prepare({
    provider: 'llama.cpp',
    model: 'tiny',
    rows: [rowWith(quirks)],
    ...probe,
    ...(withTools && { tools }),
  })
  const answer = await server.post('/apply-template', body)
  if (answer.status !== 200) return `refused: ${messageOf(answer.body)}`
  const prompt = isObject(answer.body) && typeof answer.body.prompt === 'string' ? answer.body.prompt : ''
  const missing = wordsIn(probe).filter((word) => !prompt.includes(word))
  return missing.length > 0 ? `lost: ${missing.join(', ')}` : undefined
}

function messageOf(body: Json): string {
  return isObject(body) && isObject(body.error) ? String(body.error.message).slice(0, 160) : JSON.stringify(body)
}
