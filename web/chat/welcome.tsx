// What is there before anything was said.

import { status } from '../state/session.ts'
import { send } from '../state/actions.ts'

const beginnings = ['What time is it?', 'What is 17 + 25?', 'Think about it: what time is it in Tokyo and Paris?']

export function Welcome() {
  const offline = status.value?.offline
  return (
    <div class="welcome">
      <h2>One conversation, any model, nothing lost.</h2>
      <p>
        Send a message. Switch models whenever you like: the conversation continues, and the inspector shows exactly
        what each model receives.
      </p>
      {offline && (
        <p class="hint">
          {status.value?.whyOffline ?? 'Offline: the built-in emulator answers, not a model.'} It can tell the time, add
          numbers, and tell what it was sent.
        </p>
      )}
      <ul class="beginnings" aria-label="Suggestions">
        {beginnings.map((words) => (
          <li key={words}>
            <button type="button" onClick={() => void send([{ type: 'text', text: words }])}>
              {words}
            </button>
          </li>
        ))}
      </ul>
    </div>
  )
}
