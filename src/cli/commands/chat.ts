// `synapse chat`: a conversation in the terminal. Ctrl-C stops the answer; pressed again it exits.

import { join } from 'node:path'
import { badInput } from '../../core/error.ts'
import type { Run } from '../../run/conversation.ts'
import { allowQuestion, callLines, settleCall } from '../approvals.ts'
import { withFiles } from '../attachments.ts'
import { type Command, exitCode, parse } from '../command.ts'
import { costLine } from '../cost-line.ts'
import { dataFolder } from '../local-store.ts'
import { type Input, openInput, openLineHistory } from '../input.ts'
import { print } from '../print.ts'
import { completeSlash, runSlash, slashHelp } from '../slash.ts'
import type { SlashContext } from '../slash/context.ts'
import { createView } from '../show.ts'
import { unfinishedRun } from '../unfinished-run.ts'
import { type ChatSession, openChatSession } from '../chat-session.ts'
import { sessionFlags } from '../session-flags.ts'
import { neutral, styleFor, widthOf } from '../terminal.ts'
import { wrapText } from '../wrap.ts'

export const chat: Command = {
  usage: `synapse chat [options]

Chat in the terminal. End a line with a backslash to continue on the next one; """ starts and ends a multi-line message.
The arrow keys recall earlier messages, Tab completes commands and models. Ctrl-C stops the answer; press it again, or
Ctrl-D, to exit. -c continues the last conversation, -c 3 the third of "synapse log".

${slashHelp(Infinity)}`,

  async run(argv) {
    const { values, positionals } = parse(
      argv,
      argv.includes('-c') || argv.includes('--continue') ? 1 : 0,
      sessionFlags,
    )
    if (positionals[0] !== undefined) values.conversation = positionals[0]
    if (values.json) throw badInput('--json is for a single question: synapse --json "…".')
    const files = withFiles('', values.fragment ?? [], values.attach ?? [])
    const session = await openChatSession(values)
    let code: number
    try {
      code = await converse(session, files, { allowAll: values.yes === true, plain: values.plain })
      // A chat without messages leaves no untitled conversation in the list.
      const { store, owner } = session.local
      const stored = await store.conversation(owner, session.conversation.id)
      if (stored?.entries === 0) await store.deleteConversation(owner, stored.id)
    } finally {
      await session.close()
    }
    // A second Ctrl-C does not wait for a tool that hangs: what it left open is closed when the conversation continues.
    if (code === exitCode.interrupted) process.exit(code)
    return code
  },
}

/** What the functions below share. */
interface Chat {
  readonly context: SlashContext
  readonly input: Input
  readonly allowAll: boolean
  readonly plain: boolean | undefined
  /** Text that is put on the next line for editing. */
  begin: string
  /** The user has left with a second Ctrl-C. */
  left: boolean
  /** The last run failed. */
  failed: boolean
}

async function converse(
  session: ChatSession,
  files: ReturnType<typeof withFiles>,
  { allowAll, plain }: { allowAll: boolean; plain: boolean | undefined },
): Promise<number> {
  const { stdout, stdin } = process
  const style = styleFor(stdout, process.env)
  const terminal = stdin.isTTY && stdout.isTTY
  const context: SlashContext = {
    session,
    style,
    width: () => widthOf(stdout),
    say: (text) => print(`${text}\n`),
    answer: (run) => answer(chat, run),
    ask: (question) => input.line(question),
    begin(text) {
      if (terminal) chat.begin = text
      return terminal
    },
  }
  context.say(style.dim(`${neutral(session.settings.model)}. /help lists the commands.`))
  for (const line of [session.whyOffline, await unfinishedRun(session)]) if (line) sayDim(context, line)
  const input = openInput({
    prompt: style.bold('you> '),
    more: style.dim('...> '),
    history: openLineHistory(join(dataFolder(), 'history')),
    complete: (line) => completeSlash(line, context),
  })
  const chat: Chat = { context, input, allowAll, plain, begin: '', left: false, failed: false }
  try {
    if ((await readMessages(chat, files)) === 'interrupt') return exitCode.interrupted
  } finally {
    input.close()
    if (terminal) print('\n')
  }
  // A script that pipes its questions in needs the exit code; a person has seen the failure.
  return chat.left ? exitCode.interrupted : chat.failed && !terminal ? exitCode.failed : exitCode.ok
}

async function readMessages(chat: Chat, files: ReturnType<typeof withFiles>): Promise<'interrupt' | 'end'> {
  const { context, input } = chat
  let attached = files
  await askApprovals(chat)
  while (!chat.left) {
    const typed = await input.next(chat.begin)
    chat.begin = ''
    if (typed.kind !== 'message') return typed.kind
    const text = typed.text.trim()
    if (text === '') continue
    if (text.startsWith('/')) {
      if ((await runSlash(text, context)) === 'quit') break
    } else {
      const { conversation, settings } = context.session
      await answer(chat, conversation.send([...attached, { type: 'text', text }], settings))
      attached = []
    }
  }
  return 'end'
}

/** Text about the conversation. */
function sayDim({ say, style, width }: SlashContext, line: string): void {
  say(style.dim(wrapText(line, width())))
}

async function answer(chat: Chat, run: Run): Promise<void> {
  const leaving = Promise.withResolvers<void>()
  let pressed = false
  const interrupt = (): void => {
    if (!pressed) run.abort()
    else {
      chat.left = true
      leaving.resolve()
    }
    pressed = true
  }
  process.on('SIGINT', interrupt)
  try {
    await Promise.race([show(chat, run), leaving.promise])
  } finally {
    process.off('SIGINT', interrupt)
  }
  if (!chat.left && (await run.ended).outcome === 'waiting') await askApprovals(chat)
}

/** Asks about waiting calls; without an answer they keep waiting. */
async function askApprovals(chat: Chat): Promise<void> {
  const { session, say, style } = chat.context
  const waiting = await session.conversation.approvals()
  for (const approval of waiting) {
    if (chat.allowAll) {
      await session.conversation.approve(approval.call.callId, approval)
      continue
    }
    say(callLines(approval, style).join('\n'))
    const typed = await chat.input.line(allowQuestion)
    if (typed === undefined) return say(style.dim('Left pending. Approve or deny it to continue.'))
    await settleCall(session, approval, typed)
  }
  if (waiting.length > 0) await answer(chat, session.conversation.resume(session.settings))
}

async function show(chat: Chat, run: Run): Promise<void> {
  const { stdout } = process
  const { context, plain } = chat
  const view = createView({ out: stdout, err: stdout, style: context.style, reasoning: true, plain })
  const requests: string[] = []
  for await (const event of run) {
    if (event.type === 'request') requests.push(event.exchangeId)
    view.show(event)
  }
  view.end()
  const { outcome } = await run.ended
  chat.failed = outcome === 'failed' || outcome === 'storage-full'
  const line = chat.left ? '' : await costLine(context.session, requests)
  if (line !== '') sayDim(context, line)
}
