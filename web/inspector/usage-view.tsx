// Tokens, money and cache, request by request or day by day: as a chart, and as the table it is made from. Decisions
// such as a compaction stand on the same timeline, and can be taken back there.

import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { api } from '../api/routes.ts'
import type { Overlay, UsageRow } from '../api/types.ts'
import { compact, duration, momentOf, money, share, timeOf, whenOf } from '../parts/format.ts'
import { current, exchanges, loadBeside, loadMoreExchanges, moreExchanges, overlays } from '../state/conversation.ts'
import { inspectExchange } from '../state/inspector.ts'
import { attempt } from '../state/session.ts'
import { Chart, type Bar } from './chart.tsx'

export function UsageView() {
  const [all, setAll] = useState(current.value === undefined)
  return (
    <div class="usage">
      <div class="segments" role="group" aria-label="Usage of">
        <button type="button" aria-pressed={!all} disabled={!current.value} onClick={() => setAll(false)}>
          This conversation
        </button>
        <button type="button" aria-pressed={all} onClick={() => setAll(true)}>
          Everything
        </button>
      </div>
      {all || !current.value ? <Everything /> : <OfConversation />}
    </div>
  )
}

function OfConversation() {
  const id = current.value?.id
  const rows = useUsage({ conversation: id }, [id, exchanges.value.length])
  const sent = exchanges.value.filter((one) => one.usage).toReversed()
  const bars: Bar[] = sent.map((one, i) => ({
    label: `${i + 1}`,
    cached: one.usage?.cacheRead ?? 0,
    fresh: (one.usage?.input ?? 0) - (one.usage?.cacheRead ?? 0),
    output: one.usage?.output ?? 0,
    cost: one.cost ?? 0,
  }))
  const marks = overlays.value
    .filter((one) => isDecision(one) && !one.undone)
    .map((one) => sent.findIndex((exchange) => exchange.startedAt > one.at))
    .map((at) => (at < 0 ? sent.length : at) - 0.5)
  return (
    <>
      <Totals rows={rows} />
      <Chart bars={bars} marks={marks} label="Tokens and money by request" />
      <Decisions />
      <Table label="Usage by request" columns={['Time', 'Model', 'In', 'Cached', 'Out', 'Cost', 'Took']}>
        {sent.toReversed().map((one) => (
          <tr key={one.id}>
            <td>
              <button type="button" class="plain" onClick={() => inspectExchange(one)}>
                {timeOf(one.startedAt)}
              </button>
            </td>
            <td>{one.model}</td>
            <td>{compact(one.usage?.input ?? 0)}</td>
            <td>{share(one.usage?.cacheRead ?? 0, one.usage?.input ?? 0)}</td>
            <td>{compact(one.usage?.output ?? 0)}</td>
            <td>{one.cost === undefined ? '' : money(one.cost)}</td>
            <td>{one.endedAt ? duration(Date.parse(one.endedAt) - Date.parse(one.startedAt)) : ''}</td>
          </tr>
        ))}
      </Table>
      {moreExchanges.value !== undefined && (
        <button type="button" class="more" onClick={() => void loadMoreExchanges()}>
          Show older
        </button>
      )}
    </>
  )
}

/** What the server has counted; not all requests need be on the page. */
function useUsage(query: { conversation?: string | undefined }, because: readonly unknown[]): UsageRow[] {
  const [rows, setRows] = useState<UsageRow[]>([])
  useEffect(() => {
    void attempt(async () => setRows(await api.usage(query)))
  }, because)
  return rows
}

function Totals({ rows }: { rows: UsageRow[] }) {
  const input = sumOf(rows, 'input')
  return (
    <dl class="facts">
      <div>
        <dt>Cost</dt>
        <dd>{money(sumOf(rows, 'cost'))}</dd>
      </div>
      <div>
        <dt>Input</dt>
        <dd>{compact(input)}</dd>
      </div>
      <div>
        <dt>From the cache</dt>
        <dd>{share(sumOf(rows, 'cacheRead'), input)}</dd>
      </div>
      <div>
        <dt>Output</dt>
        <dd>{compact(sumOf(rows, 'output'))}</dd>
      </div>
    </dl>
  )
}

function sumOf(rows: readonly UsageRow[], name: 'input' | 'cacheRead' | 'output' | 'cost'): number {
  return rows.reduce((sum, row) => sum + row[name], 0)
}

function Table({ label, columns, children }: { label: string; columns: string[]; children: ComponentChildren }) {
  return (
    <div class="table" tabIndex={0} role="group" aria-label={label}>
      <table>
        <thead>
          <tr>
            {columns.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  )
}

const decisionWords: Record<string, string> = {
  compaction: 'A summary replaces earlier messages',
  fold: 'Old tool turns are shortened to one line each',
  cut: 'Older messages are not sent',
  plain: 'Earlier replies are sent as plain text',
}

/** Other things are kept in the same place, such as what a person allowed: those cannot be taken back here. */
const isDecision = (overlay: Overlay) => Object.hasOwn(decisionWords, overlay.kind)

function Decisions() {
  const decided = overlays.value.filter(isDecision)
  if (decided.length === 0) return null
  return (
    <section class="decisions" aria-label="Decisions about what is sent">
      <p>Decisions about what is sent</p>
      <ul>
        {decided.map((one) => (
          <li key={one.id} class={one.undone ? 'is-undone' : ''}>
            <span>
              {decisionWords[one.kind]}
              <small>
                {momentOf(one.at)}
                {typeof one.data['why'] === 'string' && `, ${one.data['why']}`}
              </small>
            </span>
            <button type="button" onClick={() => void setUndone(one, !one.undone)}>
              {one.undone ? 'Do again' : 'Undo'}
            </button>
          </li>
        ))}
      </ul>
    </section>
  )
}

async function setUndone(overlay: Overlay, undone: boolean): Promise<void> {
  await attempt(async () => {
    await api.setUndone(overlay.conversationId, overlay.id, undone)
    await loadBeside(overlay.conversationId)
  })
}

function Everything() {
  const rows = useUsage({}, [])
  const days = [...new Set(rows.map((row) => row.day))].sort()
  const bars: Bar[] = days.map((day) => {
    const mine = rows.filter((row) => row.day === day)
    const cached = sumOf(mine, 'cacheRead')
    return {
      label: whenOf(`${day}T12:00:00Z`),
      cached,
      fresh: sumOf(mine, 'input') - cached,
      output: sumOf(mine, 'output'),
      cost: sumOf(mine, 'cost'),
    }
  })
  return (
    <>
      <Totals rows={rows} />
      <Chart bars={bars} marks={[]} label="Tokens and money by day" />
      <Table label="Usage by day and model" columns={['Day', 'Model', 'Requests', 'In', 'Cached', 'Out', 'Cost']}>
        {rows.map((row) => (
          <tr key={`${row.day} ${row.provider} ${row.model}`}>
            <td>{row.day}</td>
            <td>{row.model}</td>
            <td>{row.exchanges}</td>
            <td>{compact(row.input)}</td>
            <td>{share(row.cacheRead, row.input)}</td>
            <td>{compact(row.output)}</td>
            <td>{money(row.cost)}</td>
          </tr>
        ))}
      </Table>
    </>
  )
}
