// The model picker. Before switching, it prepares the request to the other model, with its changes and cost.

import type { RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { ModelView } from '../api/types.ts'
import { Dialog } from '../parts/dialog.tsx'
import { changeSettings, model, settings } from '../state/conversation.ts'
import { loadPreferred } from '../state/model-choice.ts'
import { providers } from '../state/session.ts'
import { pickingModel } from '../state/surface.ts'
import { factsOf, isUsable, modelGroups } from './model-groups.ts'
import { Preview } from './model-preview.tsx'

const idOf = (one: ModelView) => `model-${one.model}`

export function ModelPicker() {
  const [filter, setFilter] = useState('')
  const [marked, setChosen] = useState(model.value)
  const list = useRef<HTMLDivElement>(null)
  const search = useRef<HTMLInputElement>(null)
  const groups = modelGroups(filter)
  const found = groups.flatMap((group) => group.items)
  const typed = filter.trim()
  // A model that is not on the list can be used by its name.
  const isNew = found.length === 0 && typed !== ''
  const isKnown = !isNew || providers.value.some(({ id }) => typed.startsWith(`${id}/`) && typed.length > id.length + 1)
  // Typing unmarks a model that does not match.
  const isListed = typed === '' || found.some((one) => one.model === marked)
  const picked = isNew ? typed : isListed ? marked : (found[0]?.model ?? marked)
  const at = found.findIndex((one) => one.model === picked)

  useEffect(() => {
    search.current?.focus()
    void loadPreferred()
  }, [])
  useEffect(() => {
    list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' })
  }, [picked, filter])

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
      // The field would otherwise be cleared by it.
      event.preventDefault()
      close()
    } else if (event.key === 'Enter') {
      event.preventDefault()
      if (isKnown) choose(picked)
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
            aria-activedescendant={found[at] && idOf(found[at])}
            placeholder="Find a model"
            value={filter}
            ref={search}
            onInput={(event) => setFilter(event.currentTarget.value)}
            onKeyDown={move}
          />
          <ModelList groups={groups} picked={picked} onMark={setChosen} onChoose={choose} box={list} />
          {isNew && (
            <p class="hint">
              {isKnown
                ? 'No model on the list has this name; you can still switch to it.'
                : 'No model on the list has this name. To use another one, type provider/model.'}
            </p>
          )}
        </div>
        <div class="picker-preview">
          {isKnown && <Preview key={picked} model={picked} />}
          <button type="button" class="primary" disabled={picked === '' || !isKnown} onClick={() => choose(picked)}>
            {picked === model.value ? 'Keep' : 'Switch'}
          </button>
        </div>
      </div>
    </Dialog>
  )
}

interface ModelListProps {
  groups: ReturnType<typeof modelGroups>
  picked: string
  onMark: (name: string) => void
  onChoose: (name: string) => void
  box: RefObject<HTMLDivElement | null>
}

function ModelList({ groups, picked, onMark, onChoose, box }: ModelListProps) {
  return (
    <div id="models" role="listbox" aria-label="Models" ref={box} class="models">
      {groups.map(({ title, items }) => (
        <ul key={title} role="group" aria-label={title}>
          <li role="presentation" class="group-title">
            {title}
          </li>
          {items.map((one) => (
            <li
              key={one.model}
              id={idOf(one)}
              role="option"
              aria-selected={one.model === picked}
              onClick={() => onMark(one.model)}
              onDblClick={() => onChoose(one.model)}
            >
              <span class="model-name">
                {one.model.slice(one.provider.length + 1)}
                {!isUsable(one) && <span class="no-key">no key</span>}
              </span>
              <span class="model-facts">{factsOf(one)}</span>
            </li>
          ))}
        </ul>
      ))}
    </div>
  )
}
