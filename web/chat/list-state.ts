// The position of a long list: the measured heights, the visible rows, and the scroll target. The list itself only
// renders this.

import type { VNode } from 'preact'

export interface Keyed {
  key: string
}

export interface Layout {
  items: readonly Keyed[]
  /** The top of each row, followed by the total height. */
  offsets: Float64Array
  indexes: Map<string, number>
}

export interface ListState {
  heights: Map<string, number>
  layout: Layout | undefined
  /** A height has changed since. */
  isStale: boolean
  drawn: Map<string, { item: unknown; node: VNode }>
  observer: ResizeObserver | undefined
  observed: Set<Element>
  atEnd: boolean
  top: number
  anchor: { key: string; within: number } | undefined
  focused: string | undefined
  focusNext: string | undefined
  jumped: number
  shownEnd: number
}

/** This near to the end counts as the end. */
export const near = 48

export function newListState(shownEnd: number): ListState {
  return {
    heights: new Map(),
    layout: undefined,
    isStale: false,
    drawn: new Map(),
    observer: undefined,
    observed: new Set(),
    atEnd: true,
    top: 0,
    anchor: undefined,
    focused: undefined,
    focusNext: undefined,
    jumped: 0,
    shownEnd,
  }
}

/** Where each row begins. Adding up ten thousand heights takes time: only if something has changed. */
export function layoutOf<T extends Keyed>(
  state: ListState,
  items: readonly T[],
  estimate: (item: T) => number,
): Layout {
  if (state.layout?.items === items && !state.isStale) return state.layout
  const offsets = new Float64Array(items.length + 1)
  const indexes = state.layout?.items === items ? state.layout.indexes : new Map<string, number>()
  const isNew = indexes.size === 0
  for (let i = 0; i < items.length; i++) {
    const item = items[i]
    if (!item) continue
    offsets[i + 1] = (offsets[i] ?? 0) + (state.heights.get(item.key) ?? estimate(item))
    if (isNew) indexes.set(item.key, i)
  }
  state.isStale = false
  state.layout = { items, offsets, indexes }
  return state.layout
}

export function indexOf({ indexes }: Layout, key: string | undefined): number {
  return key === undefined ? -1 : (indexes.get(key) ?? -1)
}

/** The row at a height. */
export function indexAt(offsets: Float64Array, height: number): number {
  let low = 0
  let high = offsets.length - 2
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((offsets[middle] ?? 0) <= height) low = middle
    else high = middle - 1
  }
  return Math.max(0, low)
}

export function wantedTop(state: ListState, layout: Layout, view: number): number {
  const most = Math.max(0, (layout.offsets.at(-1) ?? 0) - view)
  if (state.atEnd) return most
  const at = indexOf(layout, state.anchor?.key)
  if (at < 0 || !state.anchor) return Math.min(state.top, most)
  return Math.max(0, Math.min(most, (layout.offsets[at] ?? 0) + state.anchor.within))
}

/** Scrolls to its target: a row, or the end. */
export function turnTo(
  state: ListState,
  layout: Layout,
  view: number,
  target: { key: string; times: number } | undefined,
  showEnd: number,
): void {
  if (target && target.times > state.jumped && layout.indexes.has(target.key)) {
    state.jumped = target.times
    state.atEnd = false
    state.anchor = { key: target.key, within: -view / 4 }
    state.focusNext = target.key
  }
  if (showEnd > state.shownEnd) {
    state.shownEnd = showEnd
    state.atEnd = true
  }
}

/** Whether a row has a different height than before. */
export function measure(state: ListState, changes: readonly ResizeObserverEntry[]): boolean {
  let isChanged = false
  for (const { target } of changes) {
    if (!(target instanceof HTMLElement) || !target.isConnected) continue
    const key = target.dataset['key'] ?? ''
    const height = target.offsetHeight
    if (height === 0 || state.heights.get(key) === height) continue
    state.heights.set(key, height)
    state.isStale = true
    isChanged = true
  }
  return isChanged
}

export function scrolledTo(state: ListState, { items, offsets }: Layout, box: HTMLElement): void {
  const now = box.scrollTop
  const atEnd = now + box.clientHeight >= box.scrollHeight - near
  // Growing rows move the end away before the list has followed it: only scrolling up leaves the end.
  if (atEnd) state.atEnd = true
  else if (now < state.top - 2) state.atEnd = false
  state.top = now
  const at = indexAt(offsets, now)
  const item = items[at]
  state.anchor = item && { key: item.key, within: now - (offsets[at] ?? 0) }
}

/**
 * The event for scrolling comes with the next frame: what is drawn before it, and what a key or a button asks for, starts
 * from where the view is now. Otherwise the list would scroll back, and a key pressed after scrolling be lost.
 */
export function catchUp(state: ListState, box: HTMLElement | null): void {
  if (box && state.layout && Math.abs(box.scrollTop - state.top) > 2) scrolledTo(state, state.layout, box)
}

/** Moves the focus to a row, and the row into view. */
export function focusRow(state: ListState, layout: Layout, key: string, height: number, view: number): void {
  const start = layout.offsets[indexOf(layout, key)] ?? 0
  if (start < state.top) state.anchor = { key, within: -16 }
  else if (start + height > state.top + view) state.anchor = { key, within: Math.min(-16, height - view + 16) }
  state.atEnd = false
  state.focused = key
  state.focusNext = key
}

/** Observes the rows that are on the page now, and no others. */
export function observe(state: ListState, rows: readonly HTMLElement[]): void {
  for (const row of rows) {
    if (state.observed.has(row)) continue
    state.observed.add(row)
    state.observer?.observe(row)
  }
  for (const row of state.observed) {
    if (row.isConnected) continue
    state.observed.delete(row)
    state.observer?.unobserve(row)
  }
}
