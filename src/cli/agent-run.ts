// An agent, asked at the terminal. Calls that a person must allow are shown and asked about; where nobody can be asked
// they are denied, and the agent is told so.

import { createInterface } from 'node:readline/promises'
import { dirname } from 'node:path'
import { findAgentFile } from '../agents/find.ts'
import { openAgent, type Agent } from '../agents/load.ts'
import { loadConfig, type Config } from '../config/load.ts'
import { badInput } from '../core/error.ts'
import type { Conversation as Stored } from '../core/log.ts'
import { endpointFinder } from '../open.ts'
import { conversationOf, type Conversation, type Run } from '../run/conversation.ts'
import type { RunEnd } from '../run/loop.ts'
import { noteLine } from './commands/convert.ts'
import { exitCode } from './command.ts'
import { openHouse, type House } from './house.ts'
import { rememberTools, seenTools } from './seen-tools.ts'
import { showing } from './show.ts'
import { neutral, styleFor } from './terminal.ts'
import { chooseModel } from './who-answers.ts'

interface Values {
  config?: string | undefined
  db?: string | undefined
  model?: string | undefined
  continue?: boolean | undefined
  conversation?: string | undefined
  yes?: boolean | undefined
  offline?: boolean | undefined
  json?: boolean | undefined
}

export async function runAgent([name, ...words]: readonly string[], values: Values): Promise<number> {
  if (name === undefined) throw badInput('Name the agent: synapse agent run NAME "…".')
  const file = findAgentFile(name, loadConfig({ file: values.config }))
  const config = loadConfig(values.config === undefined ? { cwd: dirname(file) } : { file: values.config })
  const piped = process.stdin.isTTY ? '' : await text(process.stdin)
  const question = [words.join(' '), piped.trimEnd()].filter((one) => one.trim() !== '').join('\n\n')
  if (question === '') throw badInput(`Say what ${name} shall do: synapse agent run ${name} "…".`)
  const home = config.file ?? file
  const tell = (line: string) => process.stderr.write(`${styleFor(process.stderr, process.env).dim(neutral(line))}\n`)
  const agent = await openAgent(file, { config, known: seenTools(home), onNote: (note) => tell(noteLine(note)) })
  try {
    const house = await openHouse(values)
    try {
      return await converse(await conversationWith(agent, config, house, values, tell), question, values)
    } finally {
      await house.close()
    }
  } finally {
    rememberTools(home, agent.digests())
    await agent.close()
  }
}

async function conversationWith(
  agent: Agent,
  config: Config,
  house: House,
  values: Values,
  tell: (line: string) => void,
): Promise<Conversation> {
  const own = await agent.settings()
  const { model, offline, whyOffline } = chooseModel({
    asked: values.model,
    kept: own.model,
    offline: values.offline === true,
    env: process.env,
    rows: config.rows,
  })
  if (whyOffline && !values.json) tell(whyOffline)
  const endpoint = await endpointFinder({ offline, env: process.env, rows: config.rows })
  await endpoint(model, own.protocol)
  const stored = await storedConversation(agent, house, values)
  const keep = { agent: agent.name, model }
  const { id } = stored
    ? await house.store.updateConversation(house.owner, stored.id, { settings: { ...stored.settings, ...keep } })
    : await house.store.createConversation(house.owner, { settings: keep })
  return conversationOf({ store: house.store, owner: house.owner, endpoint }, id, { ...own, model })
}

async function storedConversation(agent: Agent, house: House, values: Values): Promise<Stored | undefined> {
  if (values.conversation) return house.find(values.conversation)
  if (!values.continue) return undefined
  for (let cursor: string | undefined; ;) {
    const page = await house.store.conversations(house.owner, { limit: 100, ...(cursor && { cursor }) })
    const found = page.items.find(({ settings }) => settings['agent'] === agent.name)
    if (found) return found
    cursor = page.next
    if (!cursor) throw badInput(`There is no conversation with ${agent.name} yet. Leave out -c to start one.`)
  }
}

async function converse(conversation: Conversation, question: string, values: Values): Promise<number> {
  let running: Run | undefined
  const interrupt = () => running?.abort()
  process.on('SIGINT', interrupt)
  try {
    for (running = conversation.send(question); ; running = conversation.resume()) {
      const { outcome } = await shown(running, values.json === true)
      if (outcome === 'cancelled') return exitCode.interrupted
      if (outcome !== 'waiting') return outcome === 'failed' ? exitCode.failed : exitCode.ok
      await settleApprovals(conversation, values.yes === true)
    }
  } finally {
    process.off('SIGINT', interrupt)
  }
}

async function shown(run: Run, json: boolean): Promise<RunEnd> {
  const view = showing({ out: process.stdout, err: process.stderr, style: styleFor(process.stderr, process.env) })
  for await (const event of run) {
    if (json) process.stdout.write(`${JSON.stringify(event)}\n`)
    // The question whether to allow it follows right away.
    else if (event.type !== 'run-end' || event.outcome !== 'waiting') view.show(event)
  }
  view.end()
  return run.ended
}

async function settleApprovals(conversation: Conversation, yes: boolean): Promise<void> {
  for (const { call, argsHash } of await conversation.approvals()) {
    if (yes || (await allowed(`${call.name} ${JSON.stringify(call.input)}`))) {
      await conversation.approve(call.callId, { argsHash })
    } else {
      const nobody = process.stdin.isTTY ? undefined : 'nobody was there to allow it'
      await conversation.deny(call.callId, nobody)
    }
  }
}

async function allowed(call: string): Promise<boolean> {
  if (!process.stdin.isTTY) return false
  const reader = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return /^y(es)?$/i.test((await reader.question(`${neutral(call)}\nAllow it? [y/N] `)).trim())
  } finally {
    reader.close()
  }
}

async function text(stream: NodeJS.ReadStream): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}
