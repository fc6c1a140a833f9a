// `synapse compare`: the same question to several models at once, their answers side by side, and the conversation
// continues with one of them.

import { badInput } from '../../core/error.ts'
import type { RunEvent } from '../../core/event.ts'
import { textOf } from '../../core/message.ts'
import type { Candidate } from '../../run/branches/compare.ts'
import { withFiles } from '../attachments.ts'
import { type ChatSession, openChatSession } from '../chat-session.ts'
import { checkModel } from '../choose-model.ts'
import { type Command, exitCode, parse } from '../command.ts'
import { exchangesLine } from '../cost-line.ts'
import { isRowNumber } from '../local-store.ts'
import { questionOf } from '../text-file.ts'
import { print, printError, printJson, progressOn } from '../print.ts'
import { sessionFlags } from '../session-flags.ts'
import { clip, columnsOf, neutral, type Style, styleFor, widthOf } from '../terminal.ts'
import { wrapText } from '../wrap.ts'

export const compare: Command = {
  usage: `synapse compare -m MODEL -m MODEL [-m MODEL] [-c [N] | --conversation ID] [options] "question"

Asks several models the same question at the same time and shows their answers next to each other, with tokens, price,
cache and time of each. -c asks it in the middle of a conversation, where every model gets the same history; without a
question, the last one is answered again. Each answer is a branch; on a terminal you choose the one to continue with,
otherwise it is the first. Tools that are not safe to run twice wait until then.

  -m, --model MODEL            a model; two or three of them
  -c, --continue [N]           in the last conversation, or that of row N of "synapse log"
      --conversation ID        in this conversation
      --json                   print one line of JSON per model
  and the options of a question: -s, -f, -a, -T, -o, --policy, --offline, --db, --config`,

  async run(argv) {
    const { values, positionals } = parse(argv, Infinity, {
      ...sessionFlags,
      model: { type: 'string', short: 'm', multiple: true },
    })
    const { model: models = [], ...flags } = values
    if (models.length < 2) throw badInput('Name two or three models: synapse compare -m A -m B "question".')
    const [first, ...rest] = positionals
    const isRow = flags.continue === true && first !== undefined && isRowNumber(first)
    if (isRow) flags.conversation = first
    const question = withFiles(await questionOf(isRow ? rest : positionals), flags.fragment ?? [], flags.attach ?? [])
    const isInConversation = flags.continue === true || flags.conversation !== undefined
    if (question.length === 0 && !isInConversation)
      throw badInput('Give a question: synapse compare -m A -m B "question".')
    const session = await openChatSession({ ...flags, model: models[0] })
    try {
      if (session.whyOffline) printError(`${session.whyOffline}\n`)
      const named = await Promise.all(models.map((name) => checkModel(name, session)))
      const { candidates, ended } = await session.conversation.compare(
        named,
        question.length > 0 ? question : undefined,
      )
      const stop = () => candidates.forEach(({ run }) => run.abort())
      process.on('SIGINT', stop)
      try {
        const answers = await Promise.all(watch(candidates, flags.json !== true))
        await ended
        await show(session, answers, flags.json === true)
        if (!flags.json && process.stdin.isTTY && process.stdout.isTTY) await choose(session, answers)
        return answers.every(({ failure }) => failure !== undefined) ? exitCode.failed : exitCode.ok
      } finally {
        process.off('SIGINT', stop)
      }
    } finally {
      await session.close()
    }
  },
}

interface Answered {
  model: string
  text: string
  outcome: string
  failure?: string
  leaf: string
  exchanges: string[]
}

/** Each answer, once it has ended; meanwhile a line shows the progress. */
function watch(candidates: readonly Candidate[], isShown: boolean): Promise<Answered>[] {
  const progress = progressOn()
  const sizes = candidates.map(() => 0)
  const all = candidates.map(async ({ model, run, leaf }, index): Promise<Answered> => {
    const exchanges: string[] = []
    for await (const event of run) {
      if (event.type === 'request') exchanges.push(event.exchangeId)
      sizes[index] = (sizes[index] ?? 0) + lengthOf(event)
      if (isShown)
        progress.tell(candidates.map((candidate, i) => `${candidate.model}: ${sizes[i]} characters`).join('  ·  '))
    }
    const { outcome, failure } = await run.ended
    const text = await run.text().catch(() => '')
    return { model, text, outcome, ...(failure && { failure: failure.message }), leaf: leaf(), exchanges }
  })
  void Promise.allSettled(all).then(progress.done)
  return all
}

function lengthOf(event: RunEvent): number {
  return event.type === 'reply-event' && event.event.type === 'part-delta' ? event.event.text.length : 0
}

async function show(session: ChatSession, answers: readonly Answered[], json: boolean): Promise<void> {
  const { store, owner } = session.local
  const results = await Promise.all(
    answers.map(async (answer) => {
      const entry = await store.entry(owner, answer.leaf)
      const text = entry?.message.role === 'assistant' ? textOf(entry.message.parts) : answer.text
      const exchanges = await Promise.all(answer.exchanges.map((id) => store.exchange(owner, id)))
      return { ...answer, text, exchanges: exchanges.filter((exchange) => exchange !== undefined) }
    }),
  )
  if (json) {
    for (const { exchanges, ...one } of results) {
      const cost = exchanges.reduce((sum, exchange) => sum + (exchange.cost ?? 0), 0)
      printJson({ ...one, conversationId: session.conversation.id, requests: exchanges.length, cost })
    }
    return
  }
  const style = styleFor(process.stdout, process.env)
  const texts = results.map(({ model, text, failure, outcome, exchanges }, index) => ({
    head: neutral(`${index + 1}  ${model}`),
    text: failure ?? (text === '' && outcome === 'waiting' ? '(a tool is waiting for approval)' : text),
    foot: exchangesLine(exchanges),
  }))
  const width = widthOf(process.stdout)
  const sideBySide = Number.isFinite(width) ? columnLines(texts, width, style) : undefined
  const stacked = texts.flatMap(({ head, text, foot }) => [style.bold(head), neutral(text), style.dim(foot), ''])
  print(`${(sideBySide ?? stacked).join('\n').trimEnd()}\n`)
}

/** The conversation continues with the answer that is chosen. */
async function choose(session: ChatSession, answers: readonly Answered[]): Promise<void> {
  const { askLine } = await import('../yes-or-no.ts')
  const typed = await askLine(`Continue with which answer? [1-${answers.length}, Enter: 1] `)
  const chosen = answers[Number(typed === undefined || typed === '' ? 1 : typed) - 1]
  if (!chosen) return
  const { store, owner } = session.local
  const { id } = session.conversation
  await store.setHead(owner, id, { entryId: chosen.leaf })
  const { settings } = await session.conversation.info()
  await store.updateConversation(owner, id, { settings: { ...settings, model: chosen.model } })
  printError(`synapse -c "…" continues with ${neutral(chosen.model)}.\n`)
}

// Texts side by side, each wrapped to its own column.

const between = ' │ '
const narrowest = 30

/** Undefined if the terminal is too narrow for this many columns. */
function columnLines(
  texts: readonly { head: string; text: string; foot: string }[],
  width: number,
  style: Style,
): string[] | undefined {
  const each = Math.floor((Math.min(width, 240) - columnsOf(between) * (texts.length - 1)) / texts.length)
  if (each < narrowest) return undefined
  const plain = (text: string): string => text
  const columns = texts.map(({ head, text, foot }) => [
    { text: clip(head, each), paint: style.bold },
    ...wrappedLines(text, each).map((line) => ({ text: line, paint: plain })),
    { text: '', paint: style.dim },
    ...wrappedLines(foot, each).map((line) => ({ text: line, paint: style.dim })),
  ])
  const height = Math.max(...columns.map((lines) => lines.length))
  return Array.from({ length: height }, (_, row) =>
    columns
      .map((lines, i) => {
        const { text, paint } = lines[row] ?? { text: '', paint: plain }
        const blank = i === columns.length - 1 ? '' : ' '.repeat(Math.max(0, each - columnsOf(text)))
        return paint(text) + blank
      })
      .join(style.dim(between))
      .trimEnd(),
  )
}

function wrappedLines(text: string, width: number): string[] {
  return wrapText(neutral(text).trim(), width).split('\n')
}
