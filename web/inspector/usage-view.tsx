// Tokens, money and cache, request by request or day by day: as a chart, and as the table it is made from. Decisions
// such as a compaction are on the same timeline, and can be undone there.

import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { api } from '../api/routes.ts'
import type { ConversationUsage, UsageRow } from '../api/types.ts'
import { compact, duration, dayOf, momentOf, money, plural, share, timeOf } from '../parts/format.ts'
import {
  current,
  exchanges,
  loadMoreExchanges,
  moreExchanges,
  overlays,
  setUndone,
  spent,
} from '../state/conversation.ts'
import { inspectExchange } from '../state/inspector.ts'
import { attempt } from '../state/session.ts'
import { Chart, type Bar } from './chart.tsx'
import { decisionWords, isDecision } from './decisions.ts'

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
      <Totals rows={rows} leftOut={spent.value} />
      <Chart bars={bars} marks={marks} label="Tokens and money by request" />
      <Decisions />
      <Table label="Usage by request" columns={['Time', 'Model', 'Cost', 'In', 'Cached', 'Out', 'Took']}>
        {sent.toReversed().map((one) => (
          <tr key={one.id}>
            <td>
              <button type="button" class="plain" onClick={() => inspectExchange(one)}>
                {timeOf(one.startedAt)}
              </button>
            </td>
            <td>{one.model}</td>
            <td>{one.cost === undefined ? '' : money(one.cost)}</td>
            <td>{compact(one.usage?.input ?? 0)}</td>
            <td>{share(one.usage?.cacheRead ?? 0, one.usage?.input ?? 0)}</td>
            <td>{compact(one.usage?.output ?? 0)}</td>
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

/** The server's totals; not all requests need be on the page. */
function useUsage(query: { conversation?: string | undefined }, because: readonly unknown[]): UsageRow[] {
  const [rows, setRows] = useState<UsageRow[]>([])
  useEffect(() => {
    void attempt(async () => setRows(await api.usage(query)))
  }, because)
  return rows
}

function Totals({ rows, leftOut }: { rows: UsageRow[]; leftOut?: ConversationUsage | undefined }) {
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
      {leftOut && leftOut.saved > 0 && (
        <div>
          <dt>Saved, about</dt>
          <dd>{money(leftOut.saved)}</dd>
        </div>
      )}
      {leftOut && leftOut.recalls > 0 && (
        <div>
          <dt>Recalled</dt>
          <dd>{plural(leftOut.recalls, 'time')}</dd>
        </div>
      )}
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

function Everything() {
  const rows = useUsage({}, [])
  const days = [...new Set(rows.map((row) => row.day))].sort()
  const bars: Bar[] = days.map((day) => {
    const ofDay = rows.filter((row) => row.day === day)
    const cached = sumOf(ofDay, 'cacheRead')
    return {
      label: dayOf(`${day}T12:00:00Z`),
      cached,
      fresh: sumOf(ofDay, 'input') - cached,
      output: sumOf(ofDay, 'output'),
      cost: sumOf(ofDay, 'cost'),
    }
  })
  return (
    <>
      <Totals rows={rows} />
      <Chart bars={bars} marks={[]} label="Tokens and money by day" />
      <Table label="Usage by day and model" columns={['Day', 'Model', 'Cost', 'Requests', 'In', 'Cached', 'Out']}>
        {rows.map((row) => (
          <tr key={`${row.day} ${row.provider} ${row.model}`}>
            <td>{row.day}</td>
            <td>{row.model}</td>
            <td>{money(row.cost)}</td>
            <td>{row.exchanges}</td>
            <td>{compact(row.input)}</td>
            <td>{share(row.cacheRead, row.input)}</td>
            <td>{compact(row.output)}</td>
          </tr>
        ))}
      </Table>
    </>
  )
}
