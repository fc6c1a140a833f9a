// The position of a long list: the measured heights, the visible rows, and the scroll target. The list itself only
// renders this.

import type { VNode } from 'preact'

export interface Keyed {
  key: string
}

export interface Layout {
  items: readonly Keyed[]
  /** Of each row, and after the last one the total height. */
  offsets: Float64Array
  indexes: Map<string, number>
}

export interface Place {
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

export function newPlace(shownEnd: number): Place {
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
export function layoutOf<T extends Keyed>(place: Place, items: readonly T[], estimate: (item: T) => number): Layout {
  if (place.layout?.items === items && !place.isStale) return place.layout
  const offsets = new Float64Array(items.length + 1)
  const indexes = place.layout?.items === items ? place.layout.indexes : new Map<string, number>()
  const isNew = indexes.size === 0
  for (let i = 0; i < items.length; i++) {
    const item = items[i]
    if (!item) continue
    offsets[i + 1] = (offsets[i] ?? 0) + (place.heights.get(item.key) ?? estimate(item))
    if (isNew) indexes.set(item.key, i)
  }
  place.isStale = false
  place.layout = { items, offsets, indexes }
  return place.layout
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

export function wantedTop(place: Place, layout: Layout, view: number): number {
  const most = Math.max(0, (layout.offsets.at(-1) ?? 0) - view)
  if (place.atEnd) return most
  const at = indexOf(layout, place.anchor?.key)
  if (at < 0 || !place.anchor) return Math.min(place.top, most)
  return Math.max(0, Math.min(most, (layout.offsets[at] ?? 0) + place.anchor.within))
}

/** Scrolls to its target: a row, or the end. */
export function turnTo(
  place: Place,
  layout: Layout,
  view: number,
  target: { key: string; times: number } | undefined,
  showEnd: number,
): void {
  if (target && target.times > place.jumped && layout.indexes.has(target.key)) {
    place.jumped = target.times
    place.atEnd = false
    place.anchor = { key: target.key, within: -view / 4 }
    place.focusNext = target.key
  }
  if (showEnd > place.shownEnd) {
    place.shownEnd = showEnd
    place.atEnd = true
  }
}

/** Whether a row has a different height than before. */
export function measure(place: Place, changes: readonly ResizeObserverEntry[]): boolean {
  let isChanged = false
  for (const { target } of changes) {
    if (!(target instanceof HTMLElement) || !target.isConnected) continue
    const key = target.dataset['key'] ?? ''
    const height = target.offsetHeight
    if (height === 0 || place.heights.get(key) === height) continue
    place.heights.set(key, height)
    place.isStale = true
    isChanged = true
  }
  return isChanged
}

export function scrolledTo(place: Place, { items, offsets }: Layout, box: HTMLElement): void {
  const now = box.scrollTop
  const atEnd = now + box.clientHeight >= box.scrollHeight - near
  // Growing rows move the end away before the list has followed it: only scrolling up leaves the end.
  if (atEnd) place.atEnd = true
  else if (now < place.top - 2) place.atEnd = false
  place.top = now
  const at = indexAt(offsets, now)
  const item = items[at]
  place.anchor = item && { key: item.key, within: now - (offsets[at] ?? 0) }
}

/**
 * The event for scrolling comes with the next frame: what is drawn before it, and what a key or a button asks for, starts
 * from where the view is now. Otherwise the list would scroll back, and a key pressed after scrolling be lost.
 */
export function catchUp(place: Place, box: HTMLElement | null): void {
  if (box && place.layout && Math.abs(box.scrollTop - place.top) > 2) scrolledTo(place, place.layout, box)
}

/** Moves the focus to a row, and the row into view. */
export function focusRow(place: Place, layout: Layout, key: string, height: number, view: number): void {
  const start = layout.offsets[indexOf(layout, key)] ?? 0
  if (start < place.top) place.anchor = { key, within: -16 }
  else if (start + height > place.top + view) place.anchor = { key, within: Math.min(-16, height - view + 16) }
  place.atEnd = false
  place.focused = key
  place.focusNext = key
}

/** Observes the rows that are on the page now, and no others. */
export function observe(place: Place, rows: readonly HTMLElement[]): void {
  for (const row of rows) {
    if (place.observed.has(row)) continue
    place.observed.add(row)
    place.observer?.observe(row)
  }
  for (const row of place.observed) {
    if (row.isConnected) continue
    place.observed.delete(row)
    place.observer?.unobserve(row)
  }
}
