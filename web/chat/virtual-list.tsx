// A long list of rows of unknown height, of which only the visible ones are on the page. The row at the top of the view
// keeps its position when rows above it are measured or loaded; at the end, the list stays at the end. A focused row
// stays on the page even out of view, or the keyboard would lose its position.

import type { ComponentChildren, VNode } from 'preact'
import { useLayoutEffect, useReducer, useRef } from 'preact/hooks'
import { Icon } from '../parts/icon.tsx'
import {
  catchUp,
  focusRow,
  indexAt,
  indexOf,
  layoutOf,
  measure,
  near,
  newListState,
  observe,
  scrolledTo,
  turnTo,
  wantedTop,
  type Keyed,
  type Layout,
  type ListState,
} from './list-state.ts'

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
  /** The button label; shown while the end is out of view. */
  endNotice: string | undefined
}

/** Pixels above and below the view that are rendered too. */
const margin = 600

export function VirtualList<T extends Keyed>(props: Props<T>) {
  const { items, target } = props
  const scroller = useRef<HTMLDivElement>(null)
  const state = useRef<ListState>(newListState(props.showEnd)).current
  const [, redraw] = useReducer<number, undefined>((times) => times + 1, 0)
  const box = scroller.current
  catchUp(state, box)
  const layout = layoutOf(state, items, props.estimate)
  const total = layout.offsets[items.length] ?? 0
  const view = box?.clientHeight ?? 800
  turnTo(state, layout, view, target, props.showEnd)
  const top = wantedTop(state, layout, view)
  const first = Math.max(0, indexAt(layout.offsets, top - margin))
  const last = Math.min(items.length - 1, indexAt(layout.offsets, top + view + margin))

  useLayoutEffect(() => {
    state.observer = new ResizeObserver((changes) => measure(state, changes) && redraw(undefined))
    return () => state.observer?.disconnect()
  }, [])
  useLayoutEffect(() => {
    if (scroller.current) settle(scroller.current, state, layout, view, () => redraw(undefined))
    props.onVisible(items.slice(first, last + 1))
  })

  function move(event: KeyboardEvent): void {
    if (!(event.target instanceof HTMLElement) || event.target.dataset['key'] === undefined) return
    const at = indexOf(layout, state.focused)
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: items.length - 1 }[event.key]
    const item = to === undefined ? undefined : items[Math.max(0, Math.min(items.length - 1, to))]
    if (!item) return
    event.preventDefault()
    catchUp(state, scroller.current)
    focusRow(state, layout, item.key, state.heights.get(item.key) ?? props.estimate(item), view)
    redraw(undefined)
  }

  function toEnd(): void {
    catchUp(state, scroller.current)
    state.atEnd = true
    state.focusNext = items.at(-1)?.key
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
        onScroll={() => {
          if (scroller.current) scrolledTo(state, layout, scroller.current)
          redraw(undefined)
        }}
        onKeyDown={move}
      >
        <div class="rows" style={{ height: `${total}px` }}>
          {rowsOf(props, state, layout, first, last)}
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

/** After rendering: rows are observed, scrolled and focused. */
function settle(box: HTMLElement, state: ListState, layout: Layout, view: number, redraw: () => void): void {
  const rows = [...box.querySelectorAll<HTMLElement>('[data-key]')]
  observe(state, rows)
  const wanted = wantedTop(state, layout, view)
  if (Math.abs(box.scrollTop - wanted) > 1) {
    box.scrollTop = wanted
    if (state.top !== box.scrollTop) {
      state.top = box.scrollTop
      redraw()
    }
  }
  if (state.focusNext === undefined) return
  rows.find((row) => row.dataset['key'] === state.focusNext)?.focus({ preventScroll: true })
  state.focusNext = undefined
}

function rowsOf<T extends Keyed>(props: Props<T>, state: ListState, layout: Layout, first: number, last: number) {
  const { items, target } = props
  const shown: number[] = []
  for (let i = first; i <= last; i++) shown.push(i)
  const focusedAt = indexOf(layout, state.focused)
  if (focusedAt >= 0 && (focusedAt < first || focusedAt > last)) shown.push(focusedAt)
  const reachable = focusedAt >= 0 ? focusedAt : last
  return shown.map((i) => {
    const item = items[i]
    if (!item) return null
    const marks = `${target?.key === item.key ? 'is-target' : ''} ${i === items.length - 1 ? 'is-last' : ''}`
    return (
      <article
        key={item.key}
        data-key={item.key}
        class={`row ${marks}`}
        style={{ top: `${layout.offsets[i]}px` }}
        tabIndex={i === reachable ? 0 : -1}
        aria-posinset={i + 1}
        aria-setsize={items.length}
        aria-label={props.describe(item)}
        onFocusIn={() => (state.focused = item.key)}
      >
        {drawn(props, state, item)}
      </article>
    )
  })
}

/** An unchanged item is not rendered again. */
function drawn<T extends Keyed>(props: Props<T>, state: ListState, item: T): VNode {
  const old = state.drawn.get(item.key)
  if (old?.item === item) return old.node
  const node = <>{props.render(item)}</>
  state.drawn.set(item.key, { item, node })
  return node
}
