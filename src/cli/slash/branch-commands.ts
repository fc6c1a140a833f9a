// Going back, and going on from somewhere else. Nothing is ever taken out of the log: what was left stays a branch of
// its own, and `/tree` shows the way back to it.

import { badInput } from '../../core/error.ts'
import type { Entry } from '../../core/log.ts'
import { textOf } from '../../core/message.ts'
import { leftOpen } from '../left-open.ts'
import { clip, neutral, neutralLine } from '../terminal.ts'
import type { Talk } from '../talk.ts'
import type { SlashCommands } from './desk.ts'

export const branchCommands: SlashCommands = {
  undo: {
    about: 'take back the last question and its answer, or the last /compact',
    async run(_, { talk, say }) {
      if (await undoCompaction(talk)) return say('The summary no longer counts: the whole history is sent again.')
      const asked = await lastAsked(talk)
      if (!asked) throw badInput('There is nothing to take back.')
      await goTo(talk, asked.parentId)
      say(`Taken back, and still in the log (see /tree): ${clip(neutralLine(textOf(asked.message.parts)), 60)}`)
    },
  },
  fork: {
    takes: '[N|NAME]',
    about: 'go on from message N of /tree; without N, give this place a name to come back to',
    async run(rest, desk) {
      const { talk, say } = desk
      const { store, owner } = talk.house
      const { head } = await talk.conversation.info()
      if (rest === '') {
        if (!head) throw badInput('Nothing was said yet, so there is no place to come back to.')
        const taken = await store.branches(owner, talk.conversation.id)
        const name = freeName(new Set(taken.map((branch) => branch.name)))
        await store.nameBranch(owner, talk.conversation.id, name, head)
        return say(`This place is called ${name}. Whatever is said now, /fork ${name} comes back to it.`)
      }
      await goTo(talk, await placeNamed(talk, rest))
      const { treeLines } = await import('./tree.ts')
      say((await treeLines(desk)).join('\n'))
    },
    async complete({ talk }) {
      const branches = await talk.house.store.branches(talk.house.owner, talk.conversation.id)
      return branches.flatMap(({ name }) => (name === undefined ? [] : [name]))
    },
  },
  tree: {
    about: 'all branches of this conversation',
    async run(_, desk) {
      const { treeLines } = await import('./tree.ts')
      desk.say((await treeLines(desk)).join('\n') || 'Nothing was said yet.')
    },
  },
  retry: {
    takes: '[PROVIDER/MODEL]',
    about: 'answer the last question once more, perhaps by another model',
    async run(model, { talk, answer }) {
      const asked = await lastAsked(talk)
      if (!asked) throw badInput('Nothing was asked yet.')
      if (model !== '') {
        const { checkModel } = await import('../who-answers.ts')
        await checkModel(model, { offline: talk.offline, env: process.env, rows: talk.rows })
      }
      await answer(talk.conversation.retry({ ...talk.settings, ...(model !== '' && { model }) }))
    },
  },
  resume: {
    about: 'go on where the last run broke off or was stopped',
    async run(_, { talk, answer }) {
      if (!(await leftOpen(talk))) throw badInput('Nothing was left open. /retry answers the last question once more.')
      await answer(talk.conversation.resume(talk.settings))
    },
  },
  edit: {
    takes: '[TEXT]',
    about: 'ask the last question in other words; without TEXT it is put on the line',
    async run(text, { talk, answer, begin }) {
      const asked = await lastAsked(talk)
      if (!asked || asked.message.role !== 'user') throw badInput('Nothing was asked yet.')
      if (text === '') {
        const words = textOf(asked.message.parts)
        if (words.includes('\n')) throw badInput('The last question has several lines: write /edit and the new words.')
        if (neutral(words) !== words)
          throw badInput('The last question has control characters: write /edit and the new words.')
        if (!begin(`/edit ${words}`)) throw badInput('Write /edit and the new words.')
        return
      }
      // What was attached to the question stays with it.
      const others = asked.message.parts.filter((part) => part.type !== 'text')
      await answer(talk.conversation.edit(asked.id, [...others, { type: 'text', text }], talk.settings))
    },
  },
}

async function lastAsked(talk: Talk): Promise<Entry | undefined> {
  return (await talk.conversation.history()).findLast((entry) => entry.message.role === 'user')
}

async function goTo(talk: Talk, entryId: string | null): Promise<void> {
  await talk.house.store.setHead(talk.house.owner, talk.conversation.id, { entryId })
}

/** A summary that was asked for here, with nothing said since, is undone before what was said. */
async function undoCompaction(talk: Talk): Promise<boolean> {
  const { store, owner } = talk.house
  const { head } = await talk.conversation.info()
  const overlays = await store.overlays(owner, talk.conversation.id)
  const last = overlays.findLast((one) => one.kind === 'compaction' && !one.undone && one.entryId === head)
  if (last) await talk.conversation.undo(last.id)
  return last !== undefined
}

async function placeNamed(talk: Talk, word: string): Promise<string> {
  const { store, owner } = talk.house
  const branches = await store.branches(owner, talk.conversation.id)
  const branch = branches.find(({ name }) => name === word)
  if (branch) return branch.entryId
  const entry = /^\d+$/.test(word) ? (await store.outline(owner, talk.conversation.id))[Number(word) - 1] : undefined
  if (entry) return entry.id
  throw badInput(`There is no message or place "${word}" in this conversation: see /tree.`)
}

function freeName(taken: ReadonlySet<string | undefined>): string {
  for (let number = 1; ; number++) if (!taken.has(`fork-${number}`)) return `fork-${number}`
}
