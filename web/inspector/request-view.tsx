// One request, or two side by side: tokens and cost, the expected cache hit, and every piece of it.

import { useEffect, useState } from 'preact/hooks'
import { failureOf } from '../api/client.ts'
import type { Json } from '../api/types.ts'
import { copyText } from '../parts/clipboard.ts'
import { compact, count, momentOf, money, plural, share } from '../parts/format.ts'
import { announceCopy } from '../state/announce.ts'
import { clientOf, looking, shown, subjects, type Shown } from '../state/inspector.ts'
import { inspectorWide } from '../state/surface.ts'
import { bandsOf, type Band } from './bands.ts'
import { JsonTree } from './json.tsx'
import { AbsentCard, Notes, PieceCard } from './piece-card.tsx'

/** In a long request, this many lines at once. */
const atOnce = 120
const few = 14

type View = 'pieces' | 'exact' | 'prompt'

export function RequestView() {
  const [onlyChanges, setOnlyChanges] = useState(false)
  const [view, setView] = useState<View>('pieces')
  const [limit, setLimit] = useState(atOnce)
  const requests = shown.value.filter((one) => 'inspected' in one)
  const troubles = shown.value.filter((one) => 'trouble' in one)
  const canShowPrompt = requests.some((one) => one.prompt)
  const hasChanges = requests.some((one) => one.inspected.changes)
  const bands = bandsOf(requests.map((one) => one.inspected)).filter((band) => !onlyChanges || hasChanged(band))
  const left = Math.max(0, bands.length - limit)
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
                checked={onlyChanges}
                onChange={(event) => setOnlyChanges(event.currentTarget.checked)}
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
          {bands.slice(0, few).map((band) => line(band, requests, bands.length))}
          {left > 0 && (
            <button type="button" class="more" onClick={() => setLimit(limit + 500)}>
              {plural(left, 'more line')} hidden
            </button>
          )}
          {bands.slice(few + left).map((band) => line(band, requests, bands.length))}
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

function line(band: Band, requests: Shown[], all: number) {
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
                  <AbsentCard key={absent.place} absent={absent} of={request} />
                ))}
                {side.pieces.map((piece) => (
                  <PieceCard
                    key={piece.path}
                    piece={piece}
                    of={request}
                    isOpen={
                      piece.kind === 'message' && (all <= few || piece.change === 'new' || piece.change === 'changed')
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

function hasChanged(band: Band): boolean {
  return band.sides.some((side) => side.pieces.some((piece) => piece.change !== 'same'))
}

function Head({ request }: { request: Shown }) {
  const { inspected, exchange } = request
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
      {inspected.changes && (
        <p class="hint">
          Compared with the previous request: {inspected.changes.same} the same, {inspected.changes.changed} changed,{' '}
          {inspected.changes.added} new, {inspected.changes.gone} removed.
        </p>
      )}
      {request.issues.map((issue) => (
        <p key={issue} class="warning">
          The provider would refuse this request: {issue}
        </p>
      ))}
      <Notes notes={inspected.notes} of={request} />
    </div>
  )
}

/** Tokens, cost and cache of a request. */
function Weight({ request }: { request: Shown }) {
  const { inspected, exchange, predicted, reported } = request
  const tokens = exchange?.usage?.input ?? inspected.tokens
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
          <dd>{money(exchange ? exchange.cost : inspected.price)}</dd>
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
function asCurl({ url = '', headers = {}, text }: Shown): string {
  const quoted = (value: string) => `'${value.replaceAll("'", `'\\''`)}'`
  const lines = Object.entries(headers).map(([name, value]) =>
    /authorization|api-key/i.test(name)
      ? `-H "${name}: ${/^Bearer /i.test(value) || name.toLowerCase() === 'authorization' ? 'Bearer ' : ''}$API_KEY"`
      : `-H ${quoted(`${name}: ${value}`)}`,
  )
  return [`curl ${quoted(url)}`, ...lines, `--data-raw ${quoted(text)}`].join(' \\\n  ')
}

function Exact({ request }: { request: Shown }) {
  const { text, headers } = request
  const [pretty, setPretty] = useState(true)
  return (
    <div class="band-side exact">
      <div class="buttons">
        <button type="button" onClick={() => void copyText(text).then(announceCopy)}>
          Copy the body
        </button>
        {request.url && (
          <button type="button" onClick={() => void copyText(asCurl(request)).then(announceCopy)}>
            Copy as curl
          </button>
        )}
        <button type="button" aria-pressed={pretty} onClick={() => setPretty(!pretty)}>
          Format
        </button>
        <span class="hint">{count(new TextEncoder().encode(text).length)} bytes</span>
      </div>
      {headers && (
        <pre class="json" tabIndex={0} role="group" aria-label="Headers">
          {Object.entries(headers)
            .map(([name, value]) => `${name}: ${value}`)
            .join('\n')}
        </pre>
      )}
      {pretty ? <JsonTree value={JSON.parse(text) as Json} /> : <LongText label="Body" text={text} />}
    </div>
  )
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
      <LongText label="Prompt as the model sees it" text={found.text} />
    </div>
  )
}

function LongText({ label, text }: { label: string; text: string }) {
  const [all, setAll] = useState(false)
  const shownText = all ? text : text.slice(0, 50_000)
  return (
    <>
      <pre class="json wrap" tabIndex={0} role="group" aria-label={label}>
        {shownText}
      </pre>
      {shownText.length < text.length && (
        <button type="button" class="more" onClick={() => setAll(true)}>
          Show all
        </button>
      )}
    </>
  )
}
