// One request, or two side by side: tokens and cost, the expected cache hit, and every piece of it.

import { useEffect, useState } from 'preact/hooks'
import { failureOf } from '../api/client.ts'
import type { Json, LineView } from '../api/types.ts'
import { copyText } from '../parts/clipboard.ts'
import { compact, count, momentOf, money, plural, share } from '../parts/format.ts'
import { announceCopy } from '../state/announce.ts'
import { attempt } from '../state/session.ts'
import {
  clientOf,
  lines,
  loadMoreLines,
  looking,
  onlyChanges,
  shown,
  subjects,
  type Shown,
} from '../state/inspector.ts'
import { inspectorWide } from '../state/surface.ts'
import { JsonTree } from './json.tsx'
import { AbsentCard, Notes, PieceCard } from './piece-card.tsx'

/** Up to this many lines are all open at first. */
const mostOpen = 14

type View = 'pieces' | 'exact' | 'prompt'

export function RequestView() {
  const [view, setView] = useState<View>('pieces')
  const requests = shown.value.filter((one) => 'model' in one)
  const troubles = shown.value.filter((one) => 'trouble' in one)
  const canShowPrompt = requests.some((one) => one.prompt)
  const hasChanges = requests.some((one) => one.changes)
  const { start, hidden, end, total } = lines.value
  return (
    <div class={`requests ${requests.length > 1 ? 'two' : ''}`} aria-busy={looking.value}>
      {troubles.map((one) => (
        <p key={one.subject} class="warning">
          {one.trouble}
        </p>
      ))}
      <div class="request-heads">
        {requests.map((one) => (
          <Head key={one.subject} request={one} />
        ))}
      </div>
      {requests.length > 0 && (
        <div class="request-options">
          <ViewCheck label="Exact body" of="exact" view={view} onChange={setView} />
          {canShowPrompt && (
            <ViewCheck label="Prompt as the model sees it" of="prompt" view={view} onChange={setView} />
          )}
          {hasChanges && view === 'pieces' && (
            <label class="check">
              <input
                type="checkbox"
                checked={onlyChanges.value}
                onChange={(event) => (onlyChanges.value = event.currentTarget.checked)}
              />
              <span>Only what changed</span>
            </label>
          )}
        </div>
      )}
      {requests.length > 1 && (
        <div class="names" aria-hidden="true">
          {requests.map((one) => (
            <span key={one.subject}>{one.model}</span>
          ))}
        </div>
      )}
      {view === 'exact' || (view === 'prompt' && canShowPrompt) ? (
        <div class="bands">
          <div class="band-sides">
            {requests.map((one) =>
              view === 'exact' ? (
                <Exact key={one.subject} request={one} />
              ) : (
                <ModelPrompt key={one.subject} request={one} />
              ),
            )}
          </div>
        </div>
      ) : (
        <div class="bands">
          {start.map((one) => line(one, requests, total))}
          {hidden > 0 && (
            <button type="button" class="more" onClick={() => void loadMoreLines()}>
              {plural(hidden, 'more line')} hidden
            </button>
          )}
          {end.map((one) => line(one, requests, total))}
        </div>
      )}
    </div>
  )
}

interface ViewCheckProps {
  label: string
  of: View
  view: View
  onChange: (view: View) => void
}

function ViewCheck({ label, of, view, onChange }: ViewCheckProps) {
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={view === of}
        onChange={(event) => onChange(event.currentTarget.checked ? of : 'pieces')}
      />
      <span>{label}</span>
    </label>
  )
}

function line(band: LineView, requests: Shown[], all: number) {
  return (
    <section key={band.key} class="band" aria-label={band.title}>
      <p class="band-title">{band.title}</p>
      <div class="band-sides">
        {band.sides.map((side, i) => {
          const request = requests[i]
          return (
            request && (
              <div key={request.subject} class="band-side">
                {side.absent.map((absent) => (
                  <AbsentCard key={absent.place} absent={absent} />
                ))}
                {side.pieces.map((piece) => (
                  <PieceCard
                    key={piece.path}
                    piece={piece}
                    isOpen={
                      piece.kind === 'message' &&
                      (all <= mostOpen || piece.change === 'new' || piece.change === 'changed')
                    }
                  />
                ))}
                {side.absent.length + side.pieces.length === 0 && <p class="nothing">nothing</p>}
              </div>
            )
          )
        })}
      </div>
    </section>
  )
}

function Head({ request }: { request: Shown }) {
  const { changes, exchange, issues = [], notes = [] } = request
  return (
    <div class="request-head">
      <p class="request-model">
        <strong>{request.model}</strong> <span>{request.protocol}</span>
      </p>
      {request.url && <p class="request-url">POST {request.url}</p>}
      {exchange && (
        <p class="request-url">
          {momentOf(exchange.startedAt)}, {exchange.outcome}
          {exchange.attempts > 1 && `, ${exchange.attempts} attempts`}
        </p>
      )}
      {exchange?.clientRequest && (
        <p class="request-url">
          For {exchange.clientRequest.client ?? 'a client'} ({exchange.clientRequest.protocol}).{' '}
          <button
            type="button"
            class="source"
            onClick={() => {
              subjects.value = [`${clientOf}${exchange.id}`, exchange.id]
              if (window.innerWidth > 1100) inspectorWide.value = true
            }}
          >
            Show the client's request alongside
          </button>
        </p>
      )}
      {request.isClient ? <p class="hint">What the client sent, unchanged.</p> : <Weight request={request} />}
      {changes && (
        <p class="hint">
          Compared with the previous request: {changes.same} the same, {changes.changed} changed, {changes.added} new,{' '}
          {changes.gone} removed.
        </p>
      )}
      {issues.map((issue) => (
        <p key={issue} class="warning">
          The provider would refuse this request: {issue}
        </p>
      ))}
      <Notes notes={notes} />
    </div>
  )
}

/** Tokens, cost and cache of a request. */
function Weight({ request }: { request: Shown }) {
  const { exchange, predicted, reported } = request
  const tokens = exchange?.usage?.input ?? request.tokens ?? 0
  return (
    <>
      <dl class="facts">
        <div>
          <dt>{exchange?.usage ? 'Input' : 'Input, about'}</dt>
          <dd>
            {count(tokens)} <small>tok{request.contextWindow ? ` of ${compact(request.contextWindow)}` : ''}</small>
          </dd>
        </div>
        <div>
          <dt>{exchange ? 'Cost' : 'Price'}</dt>
          <dd>{money(exchange ? exchange.cost : request.cost)}</dd>
        </div>
        <div>
          <dt>Cache, predicted</dt>
          <dd>{predicted === undefined ? 'cold' : `${compact(predicted)} (${share(predicted, tokens)})`}</dd>
        </div>
        {exchange && (
          <div>
            <dt>Cache, reported</dt>
            <dd>{reported === undefined ? 'not reported' : `${compact(reported)} (${share(reported, tokens)})`}</dd>
          </div>
        )}
      </dl>
      <CacheBar tokens={tokens} predicted={predicted ?? 0} reported={reported} />
    </>
  )
}

function CacheBar({
  tokens,
  predicted,
  reported,
}: {
  tokens: number
  predicted: number
  reported: number | undefined
}) {
  const part = (value: number) => `${tokens === 0 ? 0 : Math.min(100, (100 * value) / tokens)}%`
  return (
    <div class="cache-bar" aria-hidden="true">
      <div class="cache-predicted" style={{ width: part(predicted) }} />
      {reported !== undefined && <div class="cache-reported" style={{ left: part(reported) }} />}
    </div>
  )
}

/** The page does not have the key: it is named as a shell variable. */
function asCurl({ url = '', headers = {} }: Shown, text: string): string {
  const quoted = (value: string) => `'${value.replaceAll("'", `'\\''`)}'`
  const lines = Object.entries(headers).map(([name, value]) =>
    /authorization|api-key/i.test(name)
      ? `-H "${name}: ${/^Bearer /i.test(value) || name.toLowerCase() === 'authorization' ? 'Bearer ' : ''}$API_KEY"`
      : `-H ${quoted(`${name}: ${value}`)}`,
  )
  return [`curl ${quoted(url)}`, ...lines, `--data-raw ${quoted(text)}`].join(' \\\n  ')
}

/** Characters of an exact body that are loaded at a time. A longer body is shown as text, page by page. */
const bodyPage = 1_000_000

function Exact({ request }: { request: Shown }) {
  const { headers, bytes = 0 } = request
  const [pretty, setPretty] = useState(true)
  const [body, setBody] = useState<{ text: string; length: number }>()
  useEffect(() => {
    let isCurrent = true
    void attempt(async () => {
      const first = await request.bodyPart(0, bodyPage)
      if (isCurrent) setBody(first)
    })
    return () => {
      isCurrent = false
    }
  }, [request])
  if (!body) return <p class="band-side hint">Loading the body…</p>
  const isWhole = body.text.length === body.length
  const copyAs = (made: (text: string) => string) =>
    void attempt(async () => announceCopy(await copyText(made(await wholeBody(request, body)))))
  return (
    <div class="band-side exact">
      <div class="buttons">
        <button type="button" onClick={() => copyAs((text) => text)}>
          Copy the body
        </button>
        {request.url && (
          <button type="button" onClick={() => copyAs((text) => asCurl(request, text))}>
            Copy as curl
          </button>
        )}
        {isWhole && (
          <button type="button" aria-pressed={pretty} onClick={() => setPretty(!pretty)}>
            Format
          </button>
        )}
        <span class="hint">{count(bytes)} bytes</span>
      </div>
      {headers && (
        <pre class="json" tabIndex={0} role="group" aria-label="Headers">
          {Object.entries(headers)
            .map(([name, value]) => `${name}: ${value}`)
            .join('\n')}
        </pre>
      )}
      {isWhole && pretty ? (
        <JsonTree value={JSON.parse(body.text) as Json} />
      ) : (
        <LongText
          label="Body"
          text={body.text}
          length={body.length}
          more={async () => {
            const next = await request.bodyPart(body.text.length, bodyPage)
            setBody({ text: body.text + next.text, length: body.length })
          }}
        />
      )}
    </div>
  )
}

async function wholeBody(request: Shown, { text, length }: { text: string; length: number }): Promise<string> {
  const parts = [text]
  for (let from = text.length; from < length;) {
    const { text: next } = await request.bodyPart(from, bodyPage)
    if (next === '') break
    parts.push(next)
    from += next.length
  }
  return parts.join('')
}

/** The prompt that a local model's chat template makes from the request. */
function ModelPrompt({ request }: { request: Shown }) {
  const { prompt } = request
  const [found, setFound] = useState<{ text: string } | { trouble: string }>()
  useEffect(() => {
    let isCurrent = true
    prompt?.().then(
      (text) => isCurrent && setFound({ text }),
      (error: unknown) => isCurrent && setFound({ trouble: failureOf(error).message }),
    )
    return () => {
      isCurrent = false
    }
  }, [prompt])
  if (!prompt) return <p class="band-side hint">The server of this model does not report its prompt.</p>
  if (!found) return <p class="band-side hint">Asking the server of the model…</p>
  if ('trouble' in found) return <p class="band-side warning">{found.trouble}</p>
  return (
    <div class="band-side exact">
      <div class="buttons">
        <button type="button" onClick={() => void copyText(found.text).then(announceCopy)}>
          Copy the prompt
        </button>
      </div>
      <LongText label="Prompt as the model sees it" text={found.text} length={found.text.length} />
    </div>
  )
}

/** Laying out megabytes of text at once would stop the page. */
const textAtOnce = 50_000

interface LongTextProps {
  label: string
  /** The text as far as it is loaded. */
  text: string
  length: number
  more?: () => Promise<void>
}

function LongText({ label, text, length, more }: LongTextProps) {
  const [limit, setLimit] = useState(textAtOnce)
  const hidden = length - Math.min(limit, text.length)
  return (
    <>
      <pre class="json wrap" tabIndex={0} role="group" aria-label={label}>
        {text.slice(0, limit)}
      </pre>
      {hidden > 0 && (
        <button
          type="button"
          class="more"
          onClick={() =>
            void attempt(async () => {
              if (limit + textAtOnce > text.length) await more?.()
              setLimit(limit + textAtOnce)
            })
          }
        >
          {plural(hidden, 'more character')} hidden
        </button>
      )}
    </>
  )
}
