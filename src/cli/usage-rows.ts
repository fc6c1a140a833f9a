// Usage totals: tokens, cost and the cache share, by day, provider or model.

import type { SavedRow } from '../run/usage.ts'
import type { UsageRow } from '../store/records.ts'
import { count, dollars, percent } from './format-number.ts'
import { table } from './table.ts'
import { neutral, type Style } from './terminal.ts'

export type Grouping = 'day' | 'provider' | 'model'

type Numbers = Omit<UsageRow, 'day' | 'provider' | 'model'>

export interface Spent extends Numbers {
  key: string
  /** In US dollars, the savings from leaving out a part of long histories. */
  saved: number
}

export function addUp(rows: readonly UsageRow[], by: Grouping, saved: readonly SavedRow[] = []): Spent[] {
  const keyOf = (row: Pick<UsageRow, Grouping>) => (by === 'model' ? `${row.provider}/${row.model}` : row[by])
  const savings = Map.groupBy(saved, keyOf)
  const all = [...Map.groupBy(rows, keyOf)].map(([key, group]) => ({
    ...sum(key, group),
    saved: (savings.get(key) ?? []).reduce((total, row) => total + row.saved, 0),
  }))
  return by === 'day'
    ? all.toSorted((a, b) => (a.key < b.key ? -1 : 1))
    : all.toSorted((a, b) => b.cost - a.cost || b.input - a.input)
}

export function usageTable(rows: readonly Spent[], head: string, width: number, style: Style): string[] {
  const saved = rows.reduce((total, row) => total + row.saved, 0)
  const all = rows.length > 1 ? [...rows, { ...sum(totalKey, rows), saved }] : rows
  const heaviest = Math.max(...rows.map(weightOf))
  // Only if there is room: a chart must not push a number off the screen.
  const room = Math.min(24, (Number.isFinite(width) ? width : 100) - 78 - (saved === 0 ? 0 : 10))
  const cells = all.map((row) => [
    neutral(row.key),
    count(row.exchanges),
    count(row.input),
    percent(row.cacheRead, row.input),
    count(row.output),
    money(row),
    ...(saved === 0 ? [] : [row.saved < 0 ? `-${dollars(-row.saved)}` : dollars(row.saved)]),
    row.key === totalKey ? '' : bar(weightOf(row) / heaviest, room),
  ])
  const columns = [
    { head, grows: true },
    { head: 'requests', right: true },
    { head: 'tokens in', right: true },
    { head: 'cached', right: true },
    { head: 'tokens out', right: true },
    { head: 'cost', right: true },
    ...(saved === 0 ? [] : [{ head: 'saved', right: true }]),
    { head: '', paint: style.green },
  ]
  return table(room > 3 ? columns : columns.slice(0, -1), cells, width, style)
}

/** What the tables cannot show: that some answers came from the emulator. */
export function offlineLine(rows: readonly Numbers[]): string | undefined {
  const { offline, exchanges } = sum('', rows)
  if (offline === 0) return undefined
  const whose = offline === exchanges ? 'All requests' : `${count(offline)} of ${count(exchanges)} requests`
  return `${whose} went to the built-in emulator and cost nothing.`
}

/** The savings from leaving out a part of long histories, in US dollars, and how often a model recalled it. */
export interface Saved {
  saved: number
  recalls: number
}

export function savedLine(rows: readonly Numbers[], { saved, recalls }: Saved): string | undefined {
  const { cost } = sum('', rows)
  const recalled = recalls === 0 ? '' : ` The model recalled ${count(recalls)} of the parts that were left out.`
  if (saved > 0) {
    return `Folding saved about ${dollars(saved)} (${dollars(cost)} instead of ${dollars(cost + saved)}).${recalled}`
  }
  return saved < 0 || recalls > 0 ? `Folding has saved nothing so far.${recalled}` : undefined
}

const totalKey = 'total'

function sum(key: string, rows: readonly Numbers[]): Omit<Spent, 'saved'> {
  const total = {
    key,
    exchanges: 0,
    input: 0,
    output: 0,
    cacheRead: 0,
    cacheWrite: 0,
    reasoning: 0,
    cost: 0,
    unpriced: 0,
    offline: 0,
  }
  for (const row of rows) {
    total.exchanges += row.exchanges
    total.input += row.input
    total.output += row.output
    total.cacheRead += row.cacheRead
    total.cacheWrite += row.cacheWrite
    total.reasoning += row.reasoning
    total.cost += row.cost
    total.unpriced += row.unpriced
    total.offline += row.offline
  }
  return total
}

/** By cost; by tokens if nothing has a price. */
function weightOf(row: Numbers): number {
  return row.cost > 0 ? row.cost : (row.input + row.output) / 1e9
}

function money(row: Numbers): string {
  if (row.offline === row.exchanges) return 'offline'
  if (row.cost === 0 && row.unpriced > 0) return 'not known'
  return `${row.unpriced > 0 ? 'over ' : ''}${dollars(row.cost)}`
}

function bar(share: number, width: number): string {
  const eighths = Math.max(1, Math.round(share * width * 8))
  return '█'.repeat(Math.floor(eighths / 8)) + (['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'][eighths % 8] ?? '')
}
