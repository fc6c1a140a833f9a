// The right side of the page: what every provider is really sent, and what it cost.

import { IconButton } from '../parts/icon-button.tsx'
import { money, timeOf } from '../parts/format.ts'
import { current, exchanges, loadMoreExchanges, model, moreExchanges } from '../state/conversation.ts'
import { clientOf, shown, subjects, tab, type Subject } from '../state/inspector.ts'
import { providers } from '../state/session.ts'
import { inspectorOpen, inspectorWide } from '../state/surface.ts'
import { RequestView } from './request-view.tsx'
import { UsageView } from './usage-view.tsx'

export function Inspector() {
  const wide = inspectorWide.value
  return (
    <aside class={`inspector ${wide ? 'is-wide' : ''}`} aria-label="Inspector">
      <header class="inspector-head">
        <div role="tablist" aria-label="Inspector" class="tabs" onKeyDown={switchTab}>
          <Tab name="request" label="Request" />
          <Tab name="usage" label="Usage" />
        </div>
        <IconButton
          icon="wide"
          label={wide ? 'Narrow inspector' : 'Wide inspector'}
          pressed={wide}
          onClick={() => (inspectorWide.value = !wide)}
        />
        <IconButton icon="close" label="Close the inspector" onClick={() => (inspectorOpen.value = false)} />
      </header>
      <div
        role="tabpanel"
        id="inspector-panel"
        aria-labelledby={`tab-${tab.value}`}
        class="inspector-body"
        // A scrollable area must be reachable by keyboard even if nothing in it is.
        tabIndex={0}
      >
        {tab.value === 'usage' ? (
          <UsageView />
        ) : current.value || shown.value.length > 0 ? (
          <>
            <Subjects />
            <RequestView />
          </>
        ) : (
          <p class="hint">Write a message to see exactly what the model would receive.</p>
        )}
      </div>
    </aside>
  )
}

function Tab({ name, label }: { name: 'request' | 'usage'; label: string }) {
  const isOn = tab.value === name
  return (
    <button
      type="button"
      role="tab"
      id={`tab-${name}`}
      aria-selected={isOn}
      aria-controls="inspector-panel"
      tabIndex={isOn ? 0 : -1}
      onClick={() => (tab.value = name)}
    >
      {label}
    </button>
  )
}

function switchTab(event: KeyboardEvent): void {
  if (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight') return
  tab.value = tab.value === 'request' ? 'usage' : 'request'
  requestAnimationFrame(() => document.querySelector<HTMLElement>(`#tab-${tab.value}`)?.focus())
}

function Subjects() {
  const [first, second] = subjects.value
  return (
    <div class="subjects">
      <label>
        <span>Show</span>
        <Choice value={first} onChange={(value) => (subjects.value = [value ?? 'next', second])} />
      </label>
      <label>
        <span>Compare with</span>
        <Choice
          value={second}
          optional
          onChange={(value) => {
            subjects.value = [first, value]
            if (value !== undefined && window.innerWidth > 1100) inspectorWide.value = true
          }}
        />
      </label>
    </div>
  )
}

interface ChoiceProps {
  value: Subject | undefined
  optional?: boolean
  onChange: (value: Subject | undefined) => void
}

function Choice({ value, optional, onChange }: ChoiceProps) {
  const others = providers.value
    .filter((one) => one.defaultModel !== undefined)
    .map((one) => `${one.id}/${one.defaultModel}`)
    .filter((name) => name !== model.value)
  return (
    <select
      value={value ?? ''}
      onChange={(event) => {
        const chosen = event.currentTarget.value
        if (chosen === 'more') void loadMoreExchanges()
        else onChange(chosen || undefined)
      }}
    >
      {optional && <option value="">nothing</option>}
      {value?.startsWith(clientOf) && <option value={value}>The client's request</option>}
      <option value="next">Next request, {model.value}</option>
      {exchanges.value.length > 0 && (
        <optgroup label="Requests that were sent">
          {exchanges.value.map((one, i) => (
            <option key={one.id} value={one.id}>
              {`${timeOf(one.startedAt)} ${one.model}${one.cost === undefined ? '' : ` ${money(one.cost)}`}${i === 0 ? ' (last)' : ''}`}
            </option>
          ))}
          {moreExchanges.value !== undefined && <option value="more">Load older requests</option>}
        </optgroup>
      )}
      <optgroup label="What if: the next request to another provider">
        {others.map((name) => (
          <option key={name} value={`next ${name}`}>
            {name}
          </option>
        ))}
      </optgroup>
    </select>
  )
}
