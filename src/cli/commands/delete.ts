// `synapse delete`: deletes a conversation and all its data, also from the file.

import { badInput } from '../../core/error.ts'
import type { Conversation } from '../../core/log.ts'
import { type Command, exitCode, parse } from '../command.ts'
import { isRowNumber, withLocalStore, storeOptions } from '../local-store.ts'
import { print } from '../print.ts'
import { neutral } from '../terminal.ts'
import { yesOrNo } from '../yes-or-no.ts'

export const deleting: Command = {
  usage: `synapse delete ID... [--yes] [--db FILE]

Permanently deletes conversations: messages, tool results, requests, search index entries and media that no other
conversation uses; the text is erased from the file. Asks for confirmation unless --yes is given.`,

  async run(argv) {
    const { values, positionals } = parse(argv, Infinity, { ...storeOptions, yes: { type: 'boolean', short: 'y' } })
    if (positionals.length === 0)
      throw badInput('Name the conversation to delete: synapse delete ID. "synapse log" lists the ids.')
    return withLocalStore(values, async (local) => {
      const named = new Map<string, Conversation>()
      for (const id of positionals) {
        if (isRowNumber(id) || id === 'last')
          throw badInput(`Delete a conversation by its id: "${id}" is not always the same one.`)
        const conversation = await local.find(id)
        named.set(conversation.id, conversation)
      }
      const conversations = [...named.values()]
      if (!values.yes && !process.stdin.isTTY)
        throw badInput('This is not an interactive terminal: give --yes to delete permanently.')
      let deleted = 0
      try {
        for (const { id, title, entries } of conversations) {
          const name = `${id} (${neutral(title ?? 'no title')}, ${entries} entries)`
          if (!values.yes && !(await yesOrNo(`Delete ${name} permanently? [y/N] `))) continue
          await local.store.deleteConversation(local.owner, id)
          print(`Deleted ${name}.\n`)
          deleted++
        }
      } finally {
        if (deleted > 0) await local.store.vacuum()
      }
      return deleted === conversations.length ? exitCode.ok : exitCode.failed
    })
  },
}
