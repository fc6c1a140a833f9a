// Going back, and continuing from another position. Nothing is ever removed from the log: the old path stays as a
// branch, and `/tree` shows the way back to it.

import { badInput } from '../../core/error.ts'
import type { Entry } from '../../core/log.ts'
import { textOf } from '../../core/message.ts'
import { unfinishedRun } from '../unfinished-run.ts'
import { clip, neutral, neutralLine } from '../terminal.ts'
import type { ChatSession } from '../chat-session.ts'
import type { SlashCommands } from './context.ts'

export const branchCommands: SlashCommands = {
  undo: {
    about: 'undo the last question and its answer, or the last /compact',
    async run(_, { session, say }) {
      if (await undoCompaction(session)) return say('Summary undone: the whole history is sent again.')
      const question = await lastAsked(session)
      if (!question) throw badInput('There is nothing to undo.')
      await goTo(session, question.parentId)
      say(`Undone, and still in the log (see /tree): ${clip(neutralLine(textOf(question.message.parts)), 60)}`)
    },
  },
  fork: {
    takes: '[N|NAME]',
    about: 'continue from message N of /tree; without N, name the current position to return to it',
    async run(rest, context) {
      const { session, say } = context
      const { store, owner } = session.local
      const { head } = await session.conversation.info()
      if (rest === '') {
        if (!head) throw badInput('There are no messages yet, so there is no position to name.')
        const branches = await store.branches(owner, session.conversation.id)
        const name = freeName(new Set(branches.map((branch) => branch.name)))
        await store.nameBranch(owner, session.conversation.id, name, head)
        return say(`This position is named ${name}. /fork ${name} returns to it at any time.`)
      }
      await goTo(session, await placeNamed(session, rest))
      const { treeLines } = await import('./tree.ts')
      say((await treeLines(context)).join('\n'))
    },
    async complete({ session }) {
      const branches = await session.local.store.branches(session.local.owner, session.conversation.id)
      return branches.flatMap(({ name }) => (name === undefined ? [] : [name]))
    },
  },
  tree: {
    about: 'all branches of this conversation',
    async run(_, context) {
      const { treeLines } = await import('./tree.ts')
      context.say((await treeLines(context)).join('\n') || 'No messages yet.')
    },
  },
  retry: {
    takes: '[PROVIDER/MODEL]',
    about: 'answer the last question again, or with another model',
    async run(typed, { session, answer }) {
      const question = await lastAsked(session)
      if (!question) throw badInput('No messages yet.')
      if (typed === '') return answer(session.conversation.retry(session.settings))
      const { checkModel } = await import('../choose-model.ts')
      const model = await checkModel(typed, session)
      await answer(session.conversation.retry({ ...session.settings, model }))
    },
  },
  resume: {
    about: 'continue where the last run was interrupted or stopped',
    async run(_, { session, answer }) {
      if (!(await unfinishedRun(session))) throw badInput('Nothing to resume. /retry answers the last question again.')
      await answer(session.conversation.resume(session.settings))
    },
  },
  edit: {
    takes: '[TEXT]',
    about: 'edit the last question; without TEXT, put it on the input line',
    async run(text, { session, answer, begin }) {
      const question = await lastAsked(session)
      if (!question || question.message.role !== 'user') throw badInput('No messages yet.')
      if (text === '') {
        const words = textOf(question.message.parts)
        if (words.includes('\n')) throw badInput('The last question has several lines: use /edit TEXT.')
        if (neutral(words) !== words) throw badInput('The last question has control characters: use /edit TEXT.')
        if (!begin(`/edit ${words}`)) throw badInput('Use /edit TEXT.')
        return
      }
      // Attachments stay with the question.
      const others = question.message.parts.filter((part) => part.type !== 'text')
      await answer(session.conversation.edit(question.id, [...others, { type: 'text', text }], session.settings))
    },
  },
}

async function lastAsked(session: ChatSession): Promise<Entry | undefined> {
  return (await session.conversation.history()).findLast((entry) => entry.message.role === 'user')
}

async function goTo(session: ChatSession, entryId: string | null): Promise<void> {
  await session.local.store.setHead(session.local.owner, session.conversation.id, { entryId })
}

/** A summary that was requested here, with no message since, is undone before the last message. */
async function undoCompaction(session: ChatSession): Promise<boolean> {
  const { store, owner } = session.local
  const { head } = await session.conversation.info()
  const overlays = await store.overlays(owner, session.conversation.id)
  const last = overlays.findLast(
    (overlay) => overlay.kind === 'compaction' && !overlay.undone && overlay.entryId === head,
  )
  if (last) await session.conversation.undo(last.id)
  return last !== undefined
}

async function placeNamed(session: ChatSession, word: string): Promise<string> {
  const { store, owner } = session.local
  const branches = await store.branches(owner, session.conversation.id)
  const branch = branches.find(({ name }) => name === word)
  if (branch) return branch.entryId
  const entry = /^\d+$/.test(word) ? (await store.outline(owner, session.conversation.id))[Number(word) - 1] : undefined
  if (entry) return entry.id
  throw badInput(`There is no message or named position "${word}" in this conversation: see /tree.`)
}

function freeName(taken: ReadonlySet<string | undefined>): string {
  for (let number = 1; ; number++) if (!taken.has(`fork-${number}`)) return `fork-${number}`
}
