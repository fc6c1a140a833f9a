// Entries and branches in memory.

import type { Branch, Conversation } from '../../core/log.ts'
import { inBranchOrder } from '../branch-order.ts'
import { plainText, checkEntry } from '../new-entry.ts'
import { notFound } from '../store-errors.ts'
import type { Branches, Entries } from '../store.ts'
import { putAll } from './records.ts'
import { copyOf, toEntry, type StoredConversation, type StoredEntry, type MemoryState } from './state.ts'

export function entryMethods(state: MemoryState): Entries & Branches {
  return {
    async append(owner, conversationId, entry, write) {
      const prepared = checkEntry(entry, state.now())
      return state.append(state.writable(owner, conversationId, write), prepared)
    },

    async appendAll(owner, conversationId, entries, write, records = []) {
      const prepared = entries.map((entry) => checkEntry(entry, state.now()))
      const conversation = state.writable(owner, conversationId, write)
      return allOrNothing(state, conversation, () => {
        const appended = prepared.map((entry) => state.append(conversation, entry))
        putAll(state, records)
        return appended
      })
    },

    async entry(owner, entryId) {
      const entry = state.findEntry(owner, entryId)
      return entry && toEntry(entry)
    },

    async history(owner, entryId, options = {}) {
      const path: StoredEntry[] = []
      for (const entry of state.path(state.findEntry(owner, entryId))) {
        if (path.length === options.last) break
        path.push(entry)
      }
      return path.toReversed().map(toEntry)
    },

    async children(owner, conversationId, entryId) {
      const entries = state.find(owner, conversationId)?.entries ?? []
      return entries.filter((entry) => entry.parentId === entryId).map(toEntry)
    },

    async outline(owner, conversationId, part) {
      const entries = state.find(owner, conversationId)?.entries ?? []
      const end = part?.before === undefined ? entries.length : entries.findIndex(({ id }) => id === part.before)
      const selected = part ? entries.slice(Math.max(0, end - part.last), Math.max(0, end)) : entries
      return selected.map(({ id, parentId, depth, role, at }) => ({ id, parentId, depth, role, at }))
    },

    async setHead(owner, conversationId, target, write) {
      const conversation = state.writable(owner, conversationId, write)
      const { about, branches } = conversation
      if ('branch' in target) {
        const entryId = branches.get(target.branch)
        if (entryId === undefined) throw notFound('branch', target.branch)
        about.head = entryId
        about.branch = target.branch
      } else {
        if (target.entryId !== null) state.entryIn(conversation, target.entryId)
        about.head = target.entryId
        delete about.branch
      }
      return copyOf(about)
    },

    async branches(owner, conversationId) {
      const conversation = state.find(owner, conversationId)
      if (!conversation) return []
      const { about, entries, branches } = conversation
      const inner = new Set(entries.map((entry) => entry.parentId))
      const pointed = new Set(branches.values())
      const leaves = entries.filter((entry) => !inner.has(entry.id) && !pointed.has(entry.id)).toReversed()
      return inBranchOrder([
        ...[...branches].map(([name, id]) => branchAt(state.entryIn(conversation, id), about, name)),
        ...leaves.map((entry) => branchAt(entry, about)),
      ])
    },

    async nameBranch(owner, conversationId, name, entryId, write) {
      const conversation = state.writable(owner, conversationId, write)
      state.entryIn(conversation, entryId)
      const { about, branches } = conversation
      const clean = plainText(name)
      branches.set(clean, entryId)
      if (about.branch === clean && about.head !== entryId) delete about.branch
    },

    async dropBranch(owner, conversationId, name, write) {
      const { about, branches } = state.writable(owner, conversationId, write)
      branches.delete(name)
      if (about.branch === name) delete about.branch
    },
  }
}

/** A write to a conversation is undone if any part of it fails. */
export function allOrNothing<T>(state: MemoryState, conversation: StoredConversation, write: () => T): T {
  const { entries } = conversation
  const before = {
    about: { ...conversation.about },
    branches: new Map(conversation.branches),
    blobs: new Set(conversation.blobs),
  }
  const count = entries.length
  try {
    return write()
  } catch (error) {
    for (const entry of entries.splice(count)) state.entries.delete(entry.id)
    Object.assign(conversation, before)
    throw error
  }
}

function branchAt(entry: StoredEntry, about: Conversation, name?: string): Branch {
  return {
    ...(name !== undefined && { name }),
    entryId: entry.id,
    depth: entry.depth,
    at: entry.at,
    current: about.head === entry.id && about.branch === name,
  }
}
