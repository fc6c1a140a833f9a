// A long list of rows of unknown height, of which only those in view are on the page. The row at the top of the view
// keeps its place when rows above it are measured or loaded; at the end, the list stays at the end. A row that has the
// focus stays on the page even out of view, or the keyboard would lose its place.

import type { ComponentChildren, VNode } from 'preact'
import { useLayoutEffect, useReducer, useRef } from 'preact/hooks'
import { Icon } from '../parts/icon.tsx'

export interface Keyed {
  key: string
}

interface Props<T extends Keyed> {
  items: readonly T[]
  label: string
  busy: boolean
  estimate: (item: T) => number
  render: (item: T) => ComponentChildren
  describe: (item: T) => string
  onVisible: (items: T[]) => void
  /** Brings a row into view, each time `times` grows. */
  target: { key: string; times: number } | undefined
  /** Brings the end into view, each time it grows. */
  showEnd: number
  /** What to look at there; shown while the end is out of view. */
  endNotice: string | undefined
}

interface Layout {
  items: readonly unknown[]
  /** Of each row, and after the last one the whole height. */
  offsets: Float64Array
  indexes: Map<string, number>
}

interface Place {
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

/** Pixels above and below the view that are drawn too. */
const margin = 600
/** So near to the end counts as at the end. */
const near = 48

export function VirtualList<T extends Keyed>(props: Props<T>) {
  const { items, target } = props
  const scroller = useRef<HTMLDivElement>(null)
  const place = useRef<Place>({
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
    shownEnd: props.showEnd,
  }).current
  const [, redraw] = useReducer<number, undefined>((times) => times + 1, 0)

  const { offsets, indexes } = measured()
  const total = offsets[items.length] ?? 0
  const view = scroller.current?.clientHeight ?? 800
  if (target && target.times > place.jumped && indexes.has(target.key)) {
    place.jumped = target.times
    place.atEnd = false
    place.anchor = { key: target.key, within: -view / 4 }
    place.focusNext = target.key
  }
  if (props.showEnd > place.shownEnd) {
    place.shownEnd = props.showEnd
    place.atEnd = true
  }
  const top = wantedTop()
  const first = Math.max(0, indexAt(offsets, top - margin))
  const last = Math.min(items.length - 1, indexAt(offsets, top + view + margin))
  const shown: number[] = []
  for (let i = first; i <= last; i++) shown.push(i)
  const focusedAt = indexOf(place.focused)
  if (focusedAt >= 0 && (focusedAt < first || focusedAt > last)) shown.push(focusedAt)
  const reachable = focusedAt >= 0 ? focusedAt : last

  useLayoutEffect(() => {
    place.observer = new ResizeObserver(measure)
    return () => place.observer?.disconnect()
  }, [])

  useLayoutEffect(() => {
    const box = scroller.current
    if (!box) return
    const rows = [...box.querySelectorAll<HTMLElement>('[data-key]')]
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
    const wanted = wantedTop()
    if (Math.abs(box.scrollTop - wanted) > 1) {
      box.scrollTop = wanted
      if (place.top !== box.scrollTop) {
        place.top = box.scrollTop
        redraw(undefined)
      }
    }
    if (place.focusNext !== undefined) {
      rows.find((row) => row.dataset['key'] === place.focusNext)?.focus({ preventScroll: true })
      place.focusNext = undefined
    }
    props.onVisible(items.slice(first, last + 1))
  })

  /** Where each row begins. Adding up ten thousand heights takes its time: only when something has changed. */
  function measured(): Layout {
    if (place.layout?.items === items && !place.isStale) return place.layout
    const offsets = new Float64Array(items.length + 1)
    const indexes = place.layout?.items === items ? place.layout.indexes : new Map<string, number>()
    const isNew = indexes.size === 0
    for (let i = 0; i < items.length; i++) {
      const item = items[i]
      if (!item) continue
      offsets[i + 1] = (offsets[i] ?? 0) + (place.heights.get(item.key) ?? props.estimate(item))
      if (isNew) indexes.set(item.key, i)
    }
    place.isStale = false
    place.layout = { items, offsets, indexes }
    return place.layout
  }

  function indexOf(key: string | undefined): number {
    return key === undefined ? -1 : (indexes.get(key) ?? -1)
  }

  function wantedTop(): number {
    const most = Math.max(0, total - view)
    if (place.atEnd) return most
    const at = indexOf(place.anchor?.key)
    if (at < 0 || !place.anchor) return Math.min(place.top, most)
    return Math.max(0, Math.min(most, (offsets[at] ?? 0) + place.anchor.within))
  }

  function measure(changes: ResizeObserverEntry[]): void {
    let changed = false
    for (const { target } of changes) {
      if (!(target instanceof HTMLElement) || !target.isConnected) continue
      const key = target.dataset['key'] ?? ''
      const height = target.offsetHeight
      if (height === 0 || place.heights.get(key) === height) continue
      place.heights.set(key, height)
      place.isStale = true
      changed = true
    }
    if (changed) redraw(undefined)
  }

  function scrolled(): void {
    const box = scroller.current
    if (!box) return
    const now = box.scrollTop
    const atEnd = now + box.clientHeight >= box.scrollHeight - near
    // Growing rows move the end away before the list has followed it: only a way up leaves the end.
    if (atEnd) place.atEnd = true
    else if (now < place.top - 2) place.atEnd = false
    place.top = now
    const at = indexAt(offsets, now)
    const item = items[at]
    place.anchor = item && { key: item.key, within: now - (offsets[at] ?? 0) }
    redraw(undefined)
  }

  function move(event: KeyboardEvent): void {
    if (!(event.target instanceof HTMLElement) || event.target.dataset['key'] === undefined) return
    const at = indexOf(place.focused)
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: items.length - 1 }[event.key]
    const item = to === undefined ? undefined : items[Math.max(0, Math.min(items.length - 1, to))]
    if (!item) return
    event.preventDefault()
    const start = offsets[indexOf(item.key)] ?? 0
    const height = place.heights.get(item.key) ?? props.estimate(item)
    if (start < place.top) place.anchor = { key: item.key, within: -16 }
    else if (start + height > place.top + view) {
      place.anchor = { key: item.key, within: Math.min(-16, height - view + 16) }
    }
    place.atEnd = false
    place.focused = item.key
    place.focusNext = item.key
    redraw(undefined)
  }

  function drawn(item: T): VNode {
    const old = place.drawn.get(item.key)
    if (old?.item === item) return old.node
    const node = <>{props.render(item)}</>
    place.drawn.set(item.key, { item, node })
    return node
  }

  function toEnd(): void {
    place.atEnd = true
    place.focusNext = items.at(-1)?.key
    redraw(undefined)
  }

  return (
    <div class="rows-frame">
      <div
        ref={scroller}
        class="rows-scroller"
        role="feed"
        aria-label={props.label}
        aria-busy={props.busy}
        onScroll={scrolled}
        onKeyDown={move}
      >
        <div class="rows" style={{ height: `${total}px` }}>
          {shown.map((i) => {
            const item = items[i]
            return (
              item && (
                <article
                  key={item.key}
                  data-key={item.key}
                  class={target?.key === item.key ? 'row is-target' : 'row'}
                  style={{ top: `${offsets[i]}px` }}
                  tabIndex={i === reachable ? 0 : -1}
                  aria-posinset={i + 1}
                  aria-setsize={items.length}
                  aria-label={props.describe(item)}
                  onFocusIn={() => (place.focused = item.key)}
                >
                  {drawn(item)}
                </article>
              )
            )
          })}
        </div>
      </div>
      {total - top - view > near && (
        <button type="button" class="to-end" title="Jump to latest" onClick={toEnd}>
          {props.endNotice ?? <span class="sr-only">Jump to latest</span>}
          <Icon name="down" />
        </button>
      )}
    </div>
  )
}

/** The row that covers a height. */
function indexAt(offsets: Float64Array, height: number): number {
  let low = 0
  let high = offsets.length - 2
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((offsets[middle] ?? 0) <= height) low = middle
    else high = middle - 1
  }
  return Math.max(0, low)
}
