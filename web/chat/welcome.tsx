// The empty state of the page.

import { effect } from '@preact/signals'
import { comparing } from '../state/compare.ts'
import { changeSettings, settings } from '../state/conversation.ts'
import { localModels } from '../state/model-choice.ts'
import { providers, status } from '../state/session.ts'
import { send } from '../state/actions.ts'
import { tab } from '../state/inspector.ts'
import { live } from '../state/run.ts'
import { connecting, importing, inspectorOpen, pickingModel } from '../state/surface.ts'

interface Beginning {
  label: string
  words: string
  /** Called once it is answered. */
  after?: () => void
}

const beginnings: readonly Beginning[] = [
  { label: 'Two tools at once: the time in Tokyo and Paris', words: 'What time is it in Tokyo and Paris?' },
  {
    label: 'Ask, then switch to another model',
    words: 'What is 17 + 25?',
    after: () => (pickingModel.value = true),
  },
  {
    label: 'Look at what is sent',
    words: 'How many messages are in this request?',
    after: () => {
      tab.value = 'request'
      inspectorOpen.value = true
    },
  },
]

async function begin({ words, after }: Beginning): Promise<void> {
  if (!(await send([{ type: 'text', text: words }]))) return
  const stop = effect(() => {
    if (live.value !== undefined) return
    after?.()
    queueMicrotask(() => stop())
  })
}

export function Welcome() {
  const offline = status.value?.offline
  const [local] = localModels.value
  const canConnect = providers.value.some((one) => one.canStoreKey)
  return (
    <div class="welcome">
      <h2>One conversation, any model, nothing lost.</h2>
      <p>
        Send a message. Switch models whenever you like: the conversation continues, and the inspector shows exactly
        what each model receives.
      </p>
      {offline && (
        <p class="hint">
          {status.value?.whyOffline ?? 'Offline: the built-in emulator answers, not a model.'} The emulator can tell the
          time, add numbers, and describe the request it received.
        </p>
      )}
      {offline && (
        <ul class="beginnings" aria-label="Suggestions">
          {beginnings.map((one) => (
            <li key={one.label}>
              <button type="button" onClick={() => void begin(one)}>
                {one.label}
              </button>
            </li>
          ))}
        </ul>
      )}
      <div class="buttons first-steps" role="group" aria-label="First steps">
        {offline && local !== undefined && (
          <button
            type="button"
            class="primary"
            onClick={() => void changeSettings({ ...settings.value, model: local })}
          >
            Use {local}
          </button>
        )}
        {canConnect && (
          <button
            type="button"
            class={offline && local === undefined ? 'primary' : ''}
            onClick={() => (connecting.value = true)}
          >
            Connect a provider
          </button>
        )}
        <button type="button" onClick={() => (comparing.value = true)}>
          Compare models
        </button>
        <button type="button" onClick={() => (importing.value = true)}>
          Import a conversation
        </button>
      </div>
    </div>
  )
}
