// A reply: its text, its thinking, its tool calls with their results, and its cost.

import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { Entry, Exchange, Part, Reply, ToolResultPart } from '../api/types.ts'
import { Icon } from '../parts/icon.tsx'
import { compact, duration, money, share, timeOf } from '../parts/format.ts'
import { exchangeOfReply } from '../state/conversation.ts'
import { inspectExchange } from '../state/inspector.ts'
import { providerName } from '../state/session.ts'
import type { Row } from '../state/rows.ts'
import { Markdown } from '../markdown/markdown.tsx'
import { Media } from './media.tsx'
import { ReplyActions } from './row-actions.tsx'
import { ToolCard } from './tool-card.tsx'

export function ReplyRow({ row, entry }: { row: Row; entry: Entry & { message: Reply } }) {
  const { origin, parts, stop } = entry.message
  const results = new Map<string, ToolResultPart>()
  for (const result of row.results) {
    for (const part of result.message.parts) if (part.type === 'tool-result') results.set(part.callId, part)
  }
  return (
    <div class="reply">
      <ReplyHead provider={origin.provider} model={origin.model} at={entry.at} />
      {parts.map((part, i) => (
        <ReplyPart key={i} part={part} result={part.type === 'tool-call' ? results.get(part.callId) : undefined} />
      ))}
      {stopWords[stop.reason] && <p class="stop-reason">{stopWords[stop.reason]}</p>}
      <div class="row-foot">
        <ReplyActions entry={entry} end={row.outlines.at(-1)?.id ?? entry.id} />
        <Cost exchange={exchangeOfReply.value.get(entry.id)} />
      </div>
    </div>
  )
}

const stopWords: Partial<Record<Reply['stop']['reason'], string>> = {
  length: 'Cut off at the output limit.',
  refusal: 'The model refused to continue.',
  paused: 'The provider paused here; the next run continues.',
  cancelled: 'Stopped here.',
  interrupted: 'The answer was interrupted here; the partial reply is saved.',
  failed: 'The answer failed here; the partial reply is saved.',
}

export function ReplyHead({ provider, model, at }: { provider: string; model: string; at?: string }) {
  return (
    <header class="row-head">
      <span class="who">{model}</span>
      <span class="via">{providerName(provider)}</span>
      {at !== undefined && <time dateTime={at}>{timeOf(at)}</time>}
    </header>
  )
}

export function ReplyPart({ part, result }: { part: Part; result: ToolResultPart | undefined }) {
  switch (part.type) {
    case 'text':
      return part.text === '' ? null : <Markdown text={part.text} />
    case 'reasoning':
      return (
        <Thinking hidden={part.hidden === true && part.text === ''} durationMs={part.durationMs}>
          {part.text !== '' && <Markdown text={part.text} />}
        </Thinking>
      )
    case 'refusal':
      return <div class="refusal">{part.text}</div>
    case 'tool-call':
      return <ToolCard call={part} result={result} />
    case 'media':
      return <Media part={part} />
    case 'server-tool':
      return (
        <Folded title={`${part.name}, run by the provider`}>
          <pre class="json">{JSON.stringify({ input: part.input, output: part.output }, null, 2)}</pre>
        </Folded>
      )
    case 'compaction':
      return (
        <Folded title="Summary of what came before">
          <Markdown text={part.text ?? 'Stored by the provider in a form only it can read.'} />
        </Folded>
      )
    case 'opaque':
      return (
        <Folded title={part.kind}>
          <pre class="json">{JSON.stringify(part.data, null, 2)}</pre>
        </Folded>
      )
    default:
      return null
  }
}

export function Thinking({
  hidden,
  open,
  durationMs,
  children,
}: {
  hidden?: boolean
  open?: boolean
  durationMs?: number | undefined
  children: ComponentChildren
}) {
  const title = durationMs === undefined ? 'Thinking' : `Thought for ${duration(durationMs)}`
  if (hidden)
    return (
      <p class="thinking-hidden">
        {durationMs === undefined ? 'Reasoning hidden by the provider.' : `${title}, hidden by the provider.`}
      </p>
    )
  return (
    <details class="thinking" open={open}>
      <summary>
        {title}
        {open && <Elapsed />}
      </summary>
      <div class="thinking-text">{children}</div>
    </details>
  )
}

/** Seconds since it appeared; not announced, or a screen reader would read each of them. */
function Elapsed() {
  const [seconds, setSeconds] = useState(0)
  useEffect(() => {
    const timer = setInterval(() => setSeconds((now) => now + 1), 1000)
    return () => clearInterval(timer)
  }, [])
  return <span aria-hidden="true">{seconds > 0 ? ` ${seconds} s` : ''}</span>
}

function Folded({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <details class="folded">
      <summary>
        <Icon name="wrench" />
        {title}
      </summary>
      {children}
    </details>
  )
}

function Cost({ exchange }: { exchange: Exchange | undefined }) {
  const usage = exchange?.usage
  if (!exchange || !usage) return null
  const took = exchange.endedAt ? Date.parse(exchange.endedAt) - Date.parse(exchange.startedAt) : undefined
  return (
    <button
      type="button"
      class="cost"
      title={`${usage.input} tokens in (${usage.cacheRead} from the cache), ${usage.output} out. Show the request.`}
      onClick={() => inspectExchange(exchange)}
    >
      <span>
        {compact(usage.input)} in, {compact(usage.output)} out
      </span>
      {usage.cacheRead > 0 && <span>{share(usage.cacheRead, usage.input)} cached</span>}
      {exchange.cost !== undefined && <span>{money(exchange.cost)}</span>}
      {took !== undefined && <span>{duration(took)}</span>}
    </button>
  )
}
