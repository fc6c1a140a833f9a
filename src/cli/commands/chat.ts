// `synapse chat`: a conversation in the terminal. Ctrl-C stops the answer; pressed again it leaves.

import { join } from 'node:path'
import { badInput } from '../../core/error.ts'
import type { Run } from '../../run/conversation.ts'
import { withFiles } from '../attachments.ts'
import { exitCode, parse, type Command } from '../command.ts'
import { costLine } from '../cost-line.ts'
import { dataFolder } from '../local-store.ts'
import { openInput } from '../input.ts'
import { openLineHistory } from '../line-history.ts'
import { print } from '../print.ts'
import { completeSlash, runSlash, slashHelp } from '../slash.ts'
import type { SlashContext } from '../slash/context.ts'
import { showing } from '../show.ts'
import { unfinishedRun } from '../unfinished-run.ts'
import { openChatSession, type ChatSession } from '../chat-session.ts'
import { sessionFlags } from '../session-flags.ts'
import { neutral, styleFor, widthOf } from '../terminal.ts'

export const chat: Command = {
  usage: `synapse chat [options]

Chat in the terminal. End a line with a backslash to continue on the next one; """ starts and ends a multi-line message.
The arrow keys recall earlier messages, Tab completes commands and models. Ctrl-C stops the answer; press it again, or
Ctrl-D, to exit.

${slashHelp(Infinity)}`,

  async run(argv) {
    const { values } = parse(argv, 0, sessionFlags)
    if (values.json) throw badInput('--json is for a single question: synapse --json "…".')
    const files = withFiles('', values.fragment ?? [], values.attach ?? [])
    const session = await openChatSession(values)
    let code: number
    try {
      code = await converse(session, files, values.yes === true)
    } finally {
      await session.close()
    }
    // A second Ctrl-C does not wait for a tool that hangs: what it left open is settled when the conversation continues.
    if (code === exitCode.interrupted) process.exit(code)
    return code
  },
}

async function converse(session: ChatSession, files: ReturnType<typeof withFiles>, allowAll: boolean): Promise<number> {
  const { stdout, stdin } = process
  const style = styleFor(stdout, process.env)
  const terminal = stdin.isTTY && stdout.isTTY
  let begin = ''
  let left = false
  let failed = false
  const context: SlashContext = {
    session,
    style,
    width: () => widthOf(stdout),
    say: (text) => print(`${text}\n`),
    answer,
    begin(text) {
      if (terminal) begin = text
      return terminal
    },
  }
  context.say(style.dim(`${neutral(session.settings.model)}. /help lists what you can type.`))
  for (const line of [session.whyOffline, await unfinishedRun(session)]) if (line) context.say(style.dim(line))

  const input = openInput({
    prompt: style.bold('you> '),
    more: style.dim('...> '),
    history: openLineHistory(join(dataFolder(), 'history')),
    complete: (line) => completeSlash(line, context),
  })
  let attached = files
  try {
    await allowances()
    while (!left) {
      const typed = await input.next(begin)
      begin = ''
      if (typed.kind === 'interrupt') return exitCode.interrupted
      if (typed.kind === 'end') break
      const text = typed.text.trim()
      if (text === '') continue
      if (text.startsWith('/')) {
        if ((await runSlash(text, context)) === 'quit') break
      } else {
        await answer(session.conversation.send([...attached, { type: 'text', text }], session.settings))
        attached = []
      }
    }
  } finally {
    input.close()
    if (terminal) print('\n')
  }
  // A script that pipes its questions in wants to know; a person has seen it.
  return left ? exitCode.interrupted : failed && !terminal ? exitCode.failed : exitCode.ok

  async function answer(run: Run): Promise<void> {
    const leaving = Promise.withResolvers<void>()
    let pressed = false
    const interrupt = (): void => {
      if (!pressed) run.abort()
      else {
        left = true
        leaving.resolve()
      }
      pressed = true
    }
    process.on('SIGINT', interrupt)
    try {
      await Promise.race([show(run), leaving.promise])
    } finally {
      process.off('SIGINT', interrupt)
    }
    if (!left && (await run.ended).outcome === 'waiting') await allowances()
  }

  /** Calls that wait for a person are asked about; who does not answer finds the question again later. */
  async function allowances(): Promise<void> {
    const waiting = await session.conversation.approvals()
    for (const { call, argsHash } of waiting) {
      if (allowAll) {
        await session.conversation.approve(call.callId, { argsHash })
        continue
      }
      context.say(`${style.yellow('Allow this call?')} ${neutral(call.name)} ${neutral(JSON.stringify(call.input))}`)
      const said = await input.line('Allow? [y/N] ')
      if (said === undefined) return context.say(style.dim('Left pending. Approve or deny it to continue.'))
      if (/^y(es)?$/i.test(said.trim())) await session.conversation.approve(call.callId, { argsHash })
      else await session.conversation.deny(call.callId, said.trim().replace(/^no?$/i, ''))
    }
    if (waiting.length > 0) await answer(session.conversation.resume(session.settings))
  }

  async function show(run: Run): Promise<void> {
    const view = showing({ out: stdout, err: stdout, style, reasoning: true })
    const requests: string[] = []
    for await (const event of run) {
      if (event.type === 'request') requests.push(event.exchangeId)
      view.show(event)
    }
    view.end()
    const { outcome } = await run.ended
    failed = outcome === 'failed' || outcome === 'storage-full'
    const line = left ? '' : await costLine(session, requests)
    if (line !== '') context.say(style.dim(line))
  }
}
