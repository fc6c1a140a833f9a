// A tool call and its result: the arguments, the duration, and the raw result.

import { useEffect, useState } from 'preact/hooks'
import type { Json, ToolCallPart, ToolResultPart } from '../api/types.ts'
import { Icon } from '../parts/icon.tsx'
import { duration } from '../parts/format.ts'
import { approvals } from '../state/conversation.ts'
import { live, tools } from '../state/run.ts'
import { ApprovalQuestion } from './approval-question.tsx'
import { Media } from './media.tsx'

export function ToolCard({ call, result }: { call: ToolCallPart; result: ToolResultPart | undefined }) {
  const state = stateOf(call, result)
  const approval = result ? undefined : approvals.value.get(call.callId)
  const progress = result ? undefined : tools.value.get(call.callId)?.progress
  return (
    <details class={`tool ${state.kind}`} open={state.kind !== 'done'}>
      <summary>
        <Icon name="wrench" />
        <span class="tool-name">{call.name}</span>
        <code class="tool-brief">{briefly(call)}</code>
        <span class="tool-state">
          {state.since === undefined ? state.words : <Ticking since={state.since} words={state.words} />}
        </span>
      </summary>
      <div class="tool-inside">
        <p class="caption">Arguments</p>
        {call.malformed === undefined ? (
          <pre class="json">{pretty(call.input)}</pre>
        ) : (
          <>
            <p class="hint">These arguments are not a JSON object, so the tool was not run.</p>
            <pre class="json">{call.malformed}</pre>
          </>
        )}
        {progress !== undefined && (
          <>
            <p class="caption">Progress</p>
            <pre class="json">{pretty(progress)}</pre>
          </>
        )}
        {approval && <ApprovalQuestion approval={approval} />}
        {result && <Result result={result} />}
      </div>
    </details>
  )
}

interface State {
  kind: 'running' | 'waiting' | 'done' | 'failed'
  words: string
  since?: number
}

function stateOf(call: ToolCallPart, result: ToolResultPart | undefined): State {
  if (result) {
    const took =
      result.startedAt && result.endedAt ? Date.parse(result.endedAt) - Date.parse(result.startedAt) : undefined
    const words = result.failed ? 'failed' : 'done'
    return {
      kind: result.failed ? 'failed' : 'done',
      words: took === undefined ? words : `${words} in ${duration(took)}`,
    }
  }
  const running = tools.value.get(call.callId)
  if (running && !running.ended) return { kind: 'running', words: 'running', since: running.startedAt }
  if (approvals.value.has(call.callId)) return { kind: 'waiting', words: 'waits for you' }
  return { kind: 'waiting', words: live.value ? 'waiting' : 'no result' }
}

function Ticking({ since, words }: { since: number; words: string }) {
  const [now, setNow] = useState(Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 500)
    return () => clearInterval(timer)
  }, [])
  return (
    <>
      {words} <span aria-hidden="true">{duration(now - since)}</span>
    </>
  )
}

function Result({ result }: { result: ToolResultPart }) {
  const text = result.output.map((part) => (part.type === 'text' ? part.text : '')).join('\n')
  const raw = result.value === undefined || result.value === text ? undefined : pretty(result.value)
  return (
    <>
      <p class="caption">{result.failed ? 'Error' : 'Result'}</p>
      {text !== '' && <pre class="json">{text}</pre>}
      {result.output.map((part, i) => (part.type === 'media' ? <Media key={i} part={part} /> : null))}
      {raw !== undefined && raw !== text && (
        <details class="raw">
          <summary>Raw value</summary>
          <pre class="json">{raw}</pre>
        </details>
      )}
    </>
  )
}

function briefly(call: ToolCallPart): string {
  const text = call.malformed ?? (call.input === null ? '' : JSON.stringify(call.input))
  return text.length > 80 ? `${text.slice(0, 80)}…` : text
}

function pretty(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2)
}
