// What was spent, added up: tokens, money and the share that came from caches, by day, provider or model.

import type { UsageRow } from '../store/records.ts'
import { count, dollars, percent } from './format-number.ts'
import { table } from './table.ts'
import { neutral, type Style } from './terminal.ts'

export type Grouping = 'day' | 'provider' | 'model'

type Numbers = Omit<UsageRow, 'day' | 'provider' | 'model'>

export interface Spent extends Numbers {
  key: string
}

export function addUp(rows: readonly UsageRow[], by: Grouping): Spent[] {
  const groups = Map.groupBy(rows, (row) => (by === 'model' ? `${row.provider}/${row.model}` : row[by]))
  const all = [...groups].map(([key, group]) => sum(key, group))
  return by === 'day'
    ? all.toSorted((a, b) => (a.key < b.key ? -1 : 1))
    : all.toSorted((a, b) => b.cost - a.cost || b.input - a.input)
}

export function usageTable(rows: readonly Spent[], head: string, width: number, style: Style): string[] {
  const all = rows.length > 1 ? [...rows, sum(totalKey, rows)] : rows
  const most = Math.max(...rows.map(weightOf))
  // Only where there is room: a chart must not push a number off the screen.
  const room = Math.min(24, (Number.isFinite(width) ? width : 100) - 78)
  const cells = all.map((row) => [
    neutral(row.key),
    count(row.exchanges),
    count(row.input),
    percent(row.cacheRead, row.input),
    count(row.output),
    money(row),
    row.key === totalKey ? '' : bar(weightOf(row) / most, room),
  ])
  const columns = [
    { head, grows: true },
    { head: 'requests', right: true },
    { head: 'tokens in', right: true },
    { head: 'cached', right: true },
    { head: 'tokens out', right: true },
    { head: 'cost', right: true },
    { head: '', paint: style.green },
  ]
  return table(room > 3 ? columns : columns.slice(0, -1), cells, width, style)
}

/** What the tables cannot say: that some of it was no model's answer. */
export function offlineLine(rows: readonly Numbers[]): string | undefined {
  const { offline, exchanges } = sum('', rows)
  if (offline === 0) return undefined
  const whose = offline === exchanges ? 'All requests' : `${count(offline)} of ${count(exchanges)} requests`
  return `${whose} went to the built-in emulator, and cost nothing.`
}

const totalKey = 'total'

function sum(key: string, rows: readonly Numbers[]): Spent {
  const total: Spent = {
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

/** By money; by tokens where nothing has a price. */
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
