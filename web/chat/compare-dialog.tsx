// The same question to two or three models, side by side: streaming answers, with the request, the cost and the time of
// each.

import type { Signal } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
import type { Part } from '../api/types.ts'
import { Dialog } from '../parts/dialog.tsx'
import { compact, duration, money, plural, share } from '../parts/format.ts'
import { attachments } from '../state/attachments.ts'
import { choose, closeComparison, compare, comparison, type Column } from '../state/compare.ts'
import { current, entries, model, rows } from '../state/conversation.ts'
import { previewNext, subjects, tab } from '../state/inspector.ts'
import { favourites, loadPreferred, recentModels } from '../state/model-choice.ts'
import { models, providers, status } from '../state/session.ts'
import { draft, inspectorOpen, inspectorWide } from '../state/surface.ts'
import { Growing } from './live-row.tsx'
import { ReplyPart } from './reply-row.tsx'

const mostModels = 3

export function CompareDialog() {
  const columns = comparison.value?.columns
  return (
    <Dialog title="Compare models" class="compare" onClose={closeComparison}>
      {columns ? <Columns columns={columns} /> : <Question />}
    </Dialog>
  )
}

function Question() {
  const [names, setNames] = useState(firstChoice)
  const [words, setWords] = useState(draft.value)
  const [busy, setBusy] = useState(false)
  const last = lastQuestion()
  useEffect(() => void loadPreferred(), [])
  const chosen = [...new Set(names.map((name) => name.trim()).filter(Boolean))]
  async function ask(): Promise<void> {
    setBusy(true)
    const text = words.trim()
    const parts: Part[] = attachments.value.map((file) => file.part)
    if (text !== '') parts.push({ type: 'text', text })
    const isTaken = await compare(chosen, parts)
    setBusy(false)
    if (!isTaken) return
    draft.value = ''
    attachments.value = []
  }
  return (
    <form
      class="settings"
      onSubmit={(event) => {
        event.preventDefault()
        void ask()
      }}
    >
      <label>
        Question
        <textarea
          rows={3}
          dir="auto"
          value={words}
          placeholder={last === '' ? 'The question for every model' : `Answer again: ${last.slice(0, 120)}`}
          onInput={(event) => setWords(event.currentTarget.value)}
        />
      </label>
      <div class="compare-models">
        {names.map((name, i) => (
          <label key={i}>
            Model {i + 1}
            <input
              list="all-models"
              value={name}
              onInput={(event) => setNames(names.with(i, event.currentTarget.value))}
            />
            <Estimate model={name.trim()} />
          </label>
        ))}
        {names.length < mostModels && (
          <button type="button" class="plain" onClick={() => setNames([...names, ''])}>
            Add a model
          </button>
        )}
      </div>
      <datalist id="all-models">
        {models.value.map((one) => (
          <option key={one.model} value={one.model} />
        ))}
      </datalist>
      <div class="buttons">
        <button
          type="submit"
          class="primary"
          disabled={busy || chosen.length < 2 || (words.trim() === '' && attachments.value.length === 0 && last === '')}
        >
          Ask {plural(chosen.length, 'model')}
        </button>
      </div>
    </form>
  )
}

/** The current model, and other available ones: favourites and recent ones before the defaults of providers. */
function firstChoice(): string[] {
  const usual = providers.value
    .filter((one) => one.defaultModel !== undefined && (status.value?.offline || one.key === 'found'))
    .map((one) => `${one.id}/${one.defaultModel}`)
  const nameOf = (one: string) => one.slice(one.lastIndexOf('/') + 1)
  const others = [...favourites.value, ...recentModels.value, ...usual]
  const second = others.find((one) => nameOf(one) !== nameOf(model.value)) ?? ''
  return [model.value, second]
}

function lastQuestion(): string {
  const row = rows.value.findLast((one) => one.role === 'user')
  const message = entries.value.get(row?.key ?? '')?.message
  return message?.parts.map((part) => (part.type === 'text' ? part.text : '')).join(' ') ?? ''
}

/** The next request to the model, and its cost with the current cache. */
function Estimate({ model: name }: { model: string }) {
  const [words, setWords] = useState('')
  const id = current.value?.id
  useEffect(() => {
    setWords('')
    if (id === undefined || !models.value.some((one) => one.model === name)) return undefined
    const stop = new AbortController()
    void load()
    return () => stop.abort()

    async function load(): Promise<void> {
      try {
        const { tokens = 0, cachedTokens: cached = 0, cost } = await previewNext(id ?? '', name, stop.signal)
        if (stop.signal.aborted) return
        const price = cost === undefined ? '' : `, ${money(cost)}`
        setWords(`≈ ${compact(tokens)} tokens${price}${cached > 0 ? `, ${share(cached, tokens)} cached` : ''}`)
      } catch {
        // Only an estimate: errors appear when the request is sent.
      }
    }
  }, [id, name])
  return <small class="hint">{words}</small>
}

function Columns({ columns }: { columns: Signal<Column>[] }) {
  const running = comparison.value?.running === true
  const sent = columns.map((column) => column.value.exchangeIds[0])
  const [first, second] = sent
  return (
    <>
      <div class="compare-columns" style={{ '--columns': columns.length }}>
        {columns.map((column) => (
          <Answer key={column.value.model} column={column} isAllDone={!running} />
        ))}
      </div>
      <div class="buttons">
        {first !== undefined && second !== undefined && (
          <button
            type="button"
            disabled={running}
            onClick={() => {
              subjects.value = [first, second]
              tab.value = 'request'
              inspectorOpen.value = true
              inspectorWide.value = true
              closeComparison()
            }}
          >
            Requests side by side
          </button>
        )}
        <button type="button" onClick={closeComparison}>
          {running ? 'Stop' : 'Close'}
        </button>
      </div>
    </>
  )
}

function Answer({ column, isAllDone }: { column: Signal<Column>; isAllDone: boolean }) {
  const one = column.value
  const parts = one.exchange?.parts.filter((part) => part !== undefined) ?? []
  const last = parts.at(-1)
  return (
    <section class="compare-answer" aria-label={one.model} aria-busy={one.endedAt === undefined}>
      <header>
        <h3>{one.model}</h3>
        <Facts one={one} />
      </header>
      {/* A scrollable area must be reachable by keyboard. */}
      <div class="compare-text" tabIndex={0} role="group" aria-label={`Answer of ${one.model}`}>
        {one.replies.flatMap((reply, r) =>
          reply.parts.map((part, i) => (
            <ReplyPart
              key={`${r} ${i}`}
              part={part}
              result={part.type === 'tool-call' ? one.results.get(part.callId) : undefined}
            />
          )),
        )}
        {parts.map((part, i) => (
          <Growing key={`live ${i}`} part={part} isLast={part === last} />
        ))}
        {one.endedAt === undefined && parts.length === 0 && <p class="pending">Waiting for the model</p>}
        {one.failure !== undefined && <p class="warning">{one.failure}</p>}
        {one.outcome === 'waiting' && (
          <p class="hint">A tool waits for your approval. Continue with this answer to decide.</p>
        )}
      </div>
      <button
        type="button"
        class="primary"
        disabled={!isAllDone || one.leaf === undefined || one.replies.length === 0}
        onClick={() => void choose(one)}
      >
        Continue with this one
      </button>
    </section>
  )
}

function Facts({ one }: { one: Column }) {
  const facts = []
  if (one.input > 0) facts.push(`${compact(one.input)} in, ${compact(one.output)} out`)
  if (one.cached > 0) facts.push(`${share(one.cached, one.input)} cached`)
  if (one.cost !== undefined) facts.push(money(one.cost))
  if (one.exchangeIds.length > 1) facts.push(plural(one.exchangeIds.length, 'request'))
  if (one.notes > 0) facts.push(plural(one.notes, 'note'))
  return (
    <p class="model-facts">
      {facts.join(' · ')}
      {one.endedAt === undefined ? '' : `${facts.length > 0 ? ' · ' : ''}${duration(one.endedAt - one.startedAt)}`}
    </p>
  )
}
