// The conversation that is open: its tree, the entries loaded so far, and the displayed leaf. Normally that is the
// head, and moves with it; after a jump to a search result on another branch it is not, until the user goes back or
// continues from there. Entries are loaded as they come into view.

import { batch, computed, signal } from '@preact/signals'
import { failureOf } from '../api/client.ts'
import { follow } from '../api/stream.ts'
import { api, paths } from '../api/routes.ts'
import type {
  Approval,
  ConversationUsage,
  ConversationView,
  Entry,
  Exchange,
  Overlay,
  RunView,
  Settings,
} from '../api/types.ts'
import { dropListed, updateListed } from './conversations.ts'
import { rowsOf, type Row } from './rows.ts'
import { attempt, status } from './session.ts'
import { addTo, isOnPath, newestLeaf, pathTo, treeOf, updated, addOlder, type Tree } from './tree.ts'

export const current = signal<ConversationView | undefined>(undefined)
/** Settings of a conversation that has no message yet, and so does not exist yet. */
const draftSettings = signal<Settings>({})
export const tree = signal<Tree>(treeOf([]))
export const leaf = signal<string | null>(null)
/** The displayed position moves with the head. */
export const following = signal(true)
export const entries = signal<ReadonlyMap<string, Entry>>(new Map())
export const exchanges = signal<Exchange[]>([])
export const moreExchanges = signal<string | undefined>(undefined)
/** Tool calls that wait for approval, by their id. */
export const approvals = signal<ReadonlyMap<string, Approval>>(new Map())
export const overlays = signal<Overlay[]>([])
/** The cost of the conversation so far, and the savings from leaving out a part of it. */
export const spent = signal<ConversationUsage | undefined>(undefined)
/** The latest run, when it has ended. */
export const lastRun = signal<RunView | undefined>(undefined)
/** The entry to scroll to, and a counter of such requests. */
export const jump = signal<{ entryId: string; times: number } | undefined>(undefined)

/** Incremented to scroll to the end of the conversation. */
export const showEnd = signal(0)

const path = computed(() => pathTo(tree.value, leaf.value))
export const rows = computed<Row[]>(() => rowsOf(path.value, entries.value))
export const settings = computed((): Settings => {
  if (!current.value) return draftSettings.value
  // Where the conversation is from; the server keeps that, and takes only what can be changed.
  const { client: _, origin: __, ...rest } = current.value.settings
  return rest
})
export const model = computed(() => settings.value.model ?? status.value?.defaultModel ?? '')
/** The displayed branch is not the one that continues. */
export const elsewhere = computed(() => !following.value && leaf.value !== current.value?.head)
export const exchangeOfReply = computed(() => {
  const byReply = new Map<string, Exchange>()
  for (const exchange of exchanges.value) if (exchange.replyEntryId) byReply.set(exchange.replyEntryId, exchange)
  return byReply
})

const pageSize = 60
/** Entries of the tree: first what can be seen, and then the rest. */
const treePage = { first: 1000, next: 2000 }
/** The rest of the tree, while it is being loaded. */
let restOfTree: Promise<void> | undefined
let stopWatching: (() => void) | undefined
/** The latest call of `open`: earlier ones are outdated. */
let opening: Promise<boolean> | undefined
let saving: Promise<boolean> | undefined
let onRun: (run: { id: string; state: string }) => void = () => {}

/** The listener for runs; the live part of the page registers itself here. */
export function whenRunSeen(tell: typeof onRun): void {
  onRun = tell
}

export function close(): void {
  opening = undefined
  restOfTree = undefined
  stopWatching?.()
  stopWatching = undefined
  batch(() => {
    if (current.value?.run) updateListed(withoutRun(current.value))
    current.value = undefined
    tree.value = treeOf([])
    leaf.value = null
    following.value = true
    entries.value = new Map()
    exchanges.value = []
    moreExchanges.value = undefined
    overlays.value = []
    spent.value = undefined
    approvals.value = new Map()
    lastRun.value = undefined
    jump.value = undefined
  })
}

/** For a conversation that is no longer watched: the end of its run will not be reported. */
function withoutRun({ run: _run, ...view }: ConversationView): ConversationView {
  return view
}

export async function open(id: string, at?: string): Promise<boolean> {
  if (current.value?.id === id) {
    if (at !== undefined) void jumpTo(at)
    return true
  }
  close()
  const attempted = attempt(async () => {
    try {
      // The user may navigate away meanwhile.
      await load(id, at, () => opening === attempted)
    } catch (error) {
      // It may have been listed, and even shown, before it was deleted.
      if (failureOf(error).kind === 'not-found') forgetDeleted(id)
      throw error
    }
  })
  opening = attempted
  return attempted
}

async function load(id: string, at: string | undefined, isWanted: () => boolean): Promise<void> {
  const [view, outline, page, runs] = await Promise.all([
    api.conversation(id),
    api.tree(id, { limit: treePage.first }),
    api.entries(id, { limit: pageSize }),
    api.runs(id, { limit: 1 }),
  ])
  if (!isWanted()) return
  batch(() => {
    current.value = view
    tree.value = treeOf(outline.entries)
    leaf.value = view.head
    keep(page.items)
  })
  restOfTree = loadOlder(id, outline.before)
  if (at !== undefined) void jumpTo(at)
  watch(id)
  if (view.run) onRun(view.run)
  await loadDetails(id)
  const [run] = runs.items
  if (current.value?.id === id && run?.state === 'ended') lastRun.value ??= run
}

/** A conversation is created with its first message, so that looking around leaves nothing behind. */
export async function ensure(): Promise<ConversationView> {
  if (current.value) return current.value
  const view = await api.create({ settings: draftSettings.value })
  batch(() => {
    close()
    current.value = view
    draftSettings.value = {}
    updateListed(view)
  })
  watch(view.id)
  return view
}

function watch(id: string): void {
  stopWatching = follow(
    paths.watch(id),
    (event) => {
      if (event.type === 'deleted') forgetDeleted(id)
      else if (event.type === 'conversation') void attempt(() => changed(JSON.parse(event.data) as ConversationView))
    },
    // It was deleted while not displayed.
    (error) => error?.failure.kind === 'not-found' && forgetDeleted(id),
  )
}

function forgetDeleted(id: string): void {
  if (current.value?.id === id) close()
  dropListed(id)
}

/** Applies a conversation's new state, from this tab or another. */
export async function changed(view: ConversationView): Promise<void> {
  if (current.value?.id !== view.id) return
  batch(() => {
    current.value = view
    updateListed(view)
    followHead()
  })
  if (view.run) onRun(view.run)
  if (view.head === null || tree.value.byId.has(view.head)) return
  await loadTree(view.id)
  // The events of a client's run at another server cannot be followed.
  if (!view.run) await loadDetails(view.id)
}

export async function loadTree(id: string): Promise<void> {
  const outline = await api.tree(id, { limit: treePage.first })
  if (current.value?.id !== id) return
  const known = updated(tree.value, outline.entries, outline.before === null)
  batch(() => {
    tree.value = known ?? treeOf(outline.entries)
    followHead()
  })
  if (!known) restOfTree = loadOlder(id, outline.before)
}

/** The entries before one, page by page. The list is laid out again at each update, so there are few of them. */
async function loadOlder(id: string, from: string | null): Promise<void> {
  await attempt(async () => {
    let shownSize = tree.value.byId.size
    for (let before = from; before !== null;) {
      const page = await api.tree(id, { limit: treePage.next, before })
      if (current.value?.id !== id) return
      addOlder(tree.value, page.entries)
      before = page.before
      const { size } = tree.value.byId
      if (before !== null && size < 4 * shownSize) continue
      tree.value = { ...tree.value }
      shownSize = size
    }
  })
}

/** Events of a run may be ahead of the known head: then the displayed position stays. */
function followHead(): void {
  const head = current.value?.head ?? null
  if (!following.value) return
  if (head === null) leaf.value = null
  else if (tree.value.byId.has(head) && !isOnPath(tree.value, head, leaf.value)) leaf.value = head
}

/** A new entry. */
export function arrived(entry: Entry): void {
  if (entry.conversationId !== current.value?.id) return
  batch(() => {
    place(entry)
    if (following.value && leaf.value === entry.parentId) leaf.value = entry.id
  })
}

/** Adds an entry, without displaying it. */
export function place(entry: Entry): void {
  const { id, parentId, depth, at, message } = entry
  keep([entry])
  if (addTo(tree.value, { id, parentId, depth, role: message.role, at })) tree.value = { ...tree.value }
}

function keep(items: readonly Entry[]): void {
  const all = new Map(entries.value)
  for (const item of items) all.set(item.id, item)
  entries.value = all
}

const loading = new Set<string>()

/** Loads the page of the path with an entry whose message is missing. */
export async function loadAround(entryId: string): Promise<void> {
  const id = current.value?.id
  const at = path.value.findIndex((entry) => entry.id === entryId)
  const first = Math.floor(at / pageSize) * pageSize
  const key = `${leaf.value} ${first}`
  if (id === undefined || at < 0 || loading.has(key)) return
  loading.add(key)
  await attempt(async () => {
    const last = path.value[first + pageSize - 1] ?? path.value.at(-1)
    // A leaf identifies the branch, so the page that ends here is the one that leads to its last entry. If its entries are
    // long, it has fewer of them.
    for (let query: Parameters<typeof api.entries>[1] = { leaf: last?.id, limit: pageSize }; ;) {
      const { items, before } = await api.entries(id, query)
      if (current.value?.id !== id) return
      keep(items)
      if (before === null || items.some((entry) => entry.id === entryId)) return
      query = { before, limit: pageSize }
    }
  })
  loading.delete(key)
}

export async function jumpTo(entryId: string): Promise<void> {
  const id = current.value?.id
  if (!tree.value.byId.has(entryId)) await restOfTree
  if (!tree.value.byId.has(entryId) || current.value?.id !== id) return
  batch(() => {
    if (!isOnPath(tree.value, entryId, leaf.value)) {
      leaf.value = newestLeaf(tree.value, entryId)
      following.value = leaf.value === current.value?.head
    }
    jump.value = { entryId, times: (jump.value?.times ?? 0) + 1 }
  })
}

/** Makes an entry the head of the conversation. */
export async function goTo(entryId: string): Promise<void> {
  const id = current.value?.id
  if (id === undefined) return
  await attempt(async () => {
    const view = await api.change(id, { head: entryId })
    following.value = true
    leaf.value = entryId
    await changed(view)
  })
}

export function backToHead(): void {
  batch(() => {
    following.value = true
    leaf.value = current.value?.head ?? null
  })
}

/** All settings, in the form of the server. Returns whether they were saved. */
export async function changeSettings(next: Settings): Promise<boolean> {
  const id = current.value?.id
  if (id === undefined) {
    draftSettings.value = next
    return true
  }
  saving = attempt(async () => changed(await api.change(id, { settings: next })))
  return saving
}

/** Resolves when the conversation is open and its settings are saved. */
export async function ready(): Promise<void> {
  await opening
  await saving
}

/** Data next to the log: requests, overlays, questions. */
export async function loadDetails(id: string): Promise<void> {
  const [page, decided, asked, used] = await Promise.all([
    api.exchanges(id, { limit: 100 }),
    api.overlays(id),
    api.approvals(id),
    api.usageOf(id),
  ])
  if (current.value?.id !== id) return
  batch(() => {
    const known = new Set(page.items.map((exchange) => exchange.id))
    const older = exchanges.value.filter((exchange) => !known.has(exchange.id))
    if (older.length === 0) moreExchanges.value = page.next
    exchanges.value = [...page.items, ...older]
    overlays.value = decided
    spent.value = used
    approvals.value = new Map(asked.map((one) => [one.call.callId, one]))
  })
}

/** Undoes a decision about what is sent, or applies it again. */
export async function setUndone(overlay: Overlay, undone: boolean): Promise<void> {
  await attempt(async () => {
    await api.setUndone(overlay.conversationId, overlay.id, undone)
    await loadDetails(overlay.conversationId)
  })
}

export async function loadMoreExchanges(): Promise<void> {
  const id = current.value?.id
  const cursor = moreExchanges.value
  if (id === undefined || cursor === undefined) return
  await attempt(async () => {
    const page = await api.exchanges(id, { limit: 100, cursor })
    if (current.value?.id !== id || moreExchanges.value !== cursor) return
    exchanges.value = [...exchanges.value, ...page.items]
    moreExchanges.value = page.next
  })
}
