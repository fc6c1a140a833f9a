// The streaming answer: the same parts as a reply, growing.

import { useEffect, useState } from 'preact/hooks'
import { Markdown } from '../markdown/markdown.tsx'
import { Icon } from '../parts/icon.tsx'
import type { LivePart } from '../state/live-reply.ts'
import { live } from '../state/run.ts'
import { ReplyHead, Thinking } from './reply-row.tsx'

export function LiveRow() {
  const run = live.value
  if (!run) return null
  const { exchange } = run
  const remarks = run.remarks.map((words) => (
    <p key={words} class="retrying" role="status">
      {words}
    </p>
  ))
  if (run.waiting) {
    remarks.push(
      <p key="waiting" class="retrying" role="status">
        The database cannot be reached. The run waits for it, and nothing is lost.
      </p>,
    )
  }
  if (!exchange) {
    return (
      <div>
        {remarks}
        <p class="pending">{run.stopping ? 'Stopping' : 'Working'}</p>
      </div>
    )
  }
  const parts = exchange.parts.filter((part) => part !== undefined)
  const last = parts.at(-1)
  return (
    <div class="reply is-live">
      <ReplyHead provider={exchange.provider} model={exchange.model} />
      {remarks}
      {parts.map((part, i) => (
        <Growing key={i} part={part} isLast={part === last} />
      ))}
      {run.retry && <Waiting {...run.retry} />}
      {parts.length === 0 && !run.retry && <p class="pending">{run.stopping ? 'Stopping' : 'Waiting for the model'}</p>}
    </div>
  )
}

export function Growing({ part, isLast }: { part: LivePart; isLast: boolean }) {
  const { type } = part.part
  if (type === 'text' || type === 'refusal' || type === 'compaction') return <Markdown text={part.text} />
  if (type === 'reasoning') {
    return (
      <Thinking open={isLast && !part.done} durationMs={part.part.durationMs}>
        <Markdown text={part.text} />
      </Thinking>
    )
  }
  if (part.part.type !== 'tool-call') return null
  return (
    <div class="tool waiting">
      <div class="tool-line">
        <Icon name="wrench" />
        <span class="tool-name">{part.part.name}</span>
        <code class="tool-brief">{part.done ? JSON.stringify(part.part.input) : part.text}</code>
      </div>
    </div>
  )
}

function Waiting({ attempt, until, failure }: { attempt: number; until: number; failure: { message: string } }) {
  const [now, setNow] = useState(Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 500)
    return () => clearInterval(timer)
  }, [])
  const seconds = Math.ceil((until - now) / 1000)
  return (
    <p class="retrying" role="status">
      {failure.message} Trying again, attempt {attempt + 1}
      <span aria-hidden="true">{seconds > 0 ? ` in ${seconds} s` : ''}</span>.
    </p>
  )
}
