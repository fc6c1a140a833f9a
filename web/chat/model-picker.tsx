// Choosing a model. Before the change is made, the request that the other model would get is prepared, with what changes
// in it and what it would cost.

import { useEffect, useRef, useState } from 'preact/hooks'
import { failureOf } from '../api/client.ts'
import type { ModelView, Note, Price } from '../api/types.ts'
import { Dialog } from '../parts/dialog.tsx'
import { compact, count, money, plural, share } from '../parts/format.ts'
import { changeSettings, current, model, settings } from '../state/conversation.ts'
import { previewNext } from '../state/inspector.ts'
import { models, providerName, providers, status } from '../state/session.ts'
import { pickingModel } from '../state/surface.ts'

/** More than a person reads; typing narrows it down. */
const most = 200

export function ModelPicker() {
  const [filter, setFilter] = useState('')
  const [chosen, setChosen] = useState(model.value)
  const list = useRef<HTMLUListElement>(null)
  const search = useRef<HTMLInputElement>(null)
  const found = matching(filter)
  const at = found.findIndex((one) => one.model === chosen)
  // A model that is not on the list can be used by its name.
  const picked = found.length === 0 && filter.trim() !== '' ? filter.trim() : chosen

  useEffect(() => search.current?.focus(), [])
  useEffect(() => {
    list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' })
  }, [chosen, filter])

  function close(): void {
    pickingModel.value = false
  }

  function choose(name: string): void {
    const { protocol: _, ...rest } = settings.value
    void changeSettings({ ...rest, model: name })
    close()
  }

  function move(event: KeyboardEvent): void {
    const to = { ArrowDown: at + 1, ArrowUp: at - 1 }[event.key]
    if (to !== undefined) {
      event.preventDefault()
      const next = found[Math.max(0, Math.min(found.length - 1, to))]
      if (next) setChosen(next.model)
    } else if (event.key === 'Escape') {
      // The field would take it to empty itself.
      event.preventDefault()
      close()
    } else if (event.key === 'Enter') {
      event.preventDefault()
      const wanted = at < 0 && found[0] ? found[0].model : picked
      choose(wanted)
    }
  }

  return (
    <Dialog title="Choose a model" class="picker" onClose={close}>
      <div class="picker-columns">
        <div class="picker-list">
          <input
            type="search"
            role="combobox"
            aria-label="Find a model"
            list={undefined}
            aria-expanded="true"
            aria-controls="models"
            aria-activedescendant={at < 0 ? undefined : `model-${at}`}
            placeholder="Find a model"
            value={filter}
            ref={search}
            onInput={(event) => setFilter(event.currentTarget.value)}
            onKeyDown={move}
          />
          <ul id="models" role="listbox" aria-label="Models" ref={list}>
            {found.slice(0, most).map((one, i) => (
              <li
                key={one.model}
                id={`model-${i}`}
                role="option"
                aria-selected={one.model === chosen}
                onClick={() => setChosen(one.model)}
                onDblClick={() => choose(one.model)}
              >
                <span class="model-name">{one.model.slice(one.provider.length + 1)}</span>
                <span class="model-facts">{factsOf(one)}</span>
              </li>
            ))}
          </ul>
          {found.length === 0 && <p class="hint">No model on the list has this name; you can still switch to it.</p>}
        </div>
        <div class="picker-preview">
          <Preview key={picked} model={picked} />
          <button type="button" class="primary" disabled={picked === ''} onClick={() => choose(picked)}>
            {picked === model.value ? 'Keep' : 'Switch'}
          </button>
        </div>
      </div>
    </Dialog>
  )
}

function matching(filter: string): ModelView[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean)
  const usable = new Set(providers.value.filter((one) => one.key !== 'missing').map((one) => one.id))
  const found = models.value.filter((one) => words.every((word) => one.model.toLowerCase().includes(word)))
  if (status.value?.offline) return found
  return [...found.filter((one) => usable.has(one.provider)), ...found.filter((one) => !usable.has(one.provider))]
}

function factsOf(one: ModelView): string {
  const price = one.price as Price | undefined
  const facts = [providerName(one.provider)]
  if (one.contextWindow) facts.push(`${compact(one.contextWindow)} window`)
  if (price?.input !== undefined) facts.push(`${money(price.input)} / M`)
  return facts.join(' · ')
}

function Preview({ model: chosen }: { model: string }) {
  const [preview, setPreview] = useState<NextPreview | undefined>()
  const [trouble, setTrouble] = useState('')
  const id = current.value?.id
  const provider = providers.value.find((one) => chosen.startsWith(`${one.id}/`))

  useEffect(() => {
    if (id === undefined || chosen === '') return undefined
    const stop = new AbortController()
    const timer = setTimeout(() => void load(), 120)
    return () => {
      clearTimeout(timer)
      stop.abort()
    }

    async function load(): Promise<void> {
      try {
        const next = await previewNext(id ?? '', chosen, stop.signal)
        if (!stop.signal.aborted) setPreview(next)
      } catch (error) {
        if (!stop.signal.aborted) setTrouble(failureOf(error).message)
      }
    }
  }, [id, chosen])

  return (
    <div class="preview" aria-live="polite">
      <h3>{chosen || 'No model'}</h3>
      {provider?.key === 'missing' && !status.value?.offline && (
        <p class="warning">
          No key for {provider.name}. Set {provider.keyVariables[0]} where the server runs.
        </p>
      )}
      {trouble !== '' && <p class="warning">{trouble}</p>}
      {id === undefined && <p class="hint">The conversation starts with this model.</p>}
      {preview && <Changes {...preview} />}
    </div>
  )
}

type NextPreview = Awaited<ReturnType<typeof previewNext>>

function Changes({ prepared, tokens, cached, cost }: NextPreview) {
  const notes = (prepared.notes ?? []).filter((note) => note.kind !== 'added')
  const messages = prepared.messages ?? []
  const sent = messages.filter((message) => message.sent).length
  const isWhole = sent === messages.length && notes.length === 0
  return (
    <>
      <p>
        {isWhole
          ? `All ${plural(messages.length, 'message')} carry over unchanged`
          : `${count(sent)} of ${plural(messages.length, 'message')} are sent`}
        , about {compact(tokens)} tokens
        {cost !== undefined && ` (${money(cost)}${cached > 0 ? `, ${share(cached, tokens)} cached` : ''})`}.
      </p>
      {prepared.issues && prepared.issues.length > 0 && <p class="warning">The provider would refuse this request.</p>}
      {notes.length > 0 && (
        <>
          <p class="caption">What changes</p>
          <ul class="crossing">
            {grouped(notes).map(({ note, times }) => (
              <li key={`${note.kind}${note.what}${note.why}`} class={`note ${note.kind}`}>
                <span class="note-kind">{note.kind}</span>
                <span>
                  {note.what}
                  {times > 1 && ` (${times} times)`}
                  <small>{note.why}</small>
                </span>
              </li>
            ))}
          </ul>
          <p class="hint">The log keeps everything, and a model gets its own messages back in full.</p>
        </>
      )}
    </>
  )
}

function grouped(notes: readonly Note[]): { note: Note; times: number }[] {
  const groups = new Map<string, { note: Note; times: number }>()
  for (const note of notes) {
    const key = `${note.kind} ${note.what} ${note.why}`
    const group = groups.get(key)
    if (group) group.times++
    else groups.set(key, { note, times: 1 })
  }
  return [...groups.values()]
}
