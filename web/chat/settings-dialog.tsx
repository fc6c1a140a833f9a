// How this conversation is run: instructions, what of it is sent, effort, tools.

import { useState } from 'preact/hooks'
import type { Settings } from '../api/types.ts'
import { FormDialog } from '../parts/dialog.tsx'
import { changeSettings, settings } from '../state/conversation.ts'
import { status } from '../state/session.ts'
import { changingSettings } from '../state/surface.ts'

const policies: Record<string, string> = {
  '': 'Default',
  economy: 'Economy: drop old tool results when keeping them costs more',
  classic: 'Classic: the last 20 messages, 3 tool turns',
  full: 'Full: everything',
  small: 'Small: for models with a small window',
}
/** A policy in numbers, which only the API can give. */
const own = 'own'
const efforts = ['', 'none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const

export function SettingsDialog() {
  const now = settings.value
  const all = status.value?.tools ?? []
  const ownPolicy = typeof now.policy === 'object' ? now.policy : undefined
  const [system, setSystem] = useState(now.system ?? '')
  const [policy, setPolicy] = useState(ownPolicy ? own : ((now.policy as string | undefined) ?? ''))
  const [effort, setEffort] = useState<string>(now.options?.effort ?? '')
  const [temperature, setTemperature] = useState(String(now.options?.temperature ?? ''))
  const [maxOutput, setMaxOutput] = useState(String(now.options?.maxOutput ?? ''))
  const [offered, setOffered] = useState(
    all.map((tool) => tool.name).filter((name) => now.tools?.includes(name) ?? true),
  )

  function close(): void {
    changingSettings.value = false
  }

  async function save(): Promise<void> {
    const { system: _s, policy: _p, options, tools: _t, ...rest } = now
    const { effort: _e, temperature: _t2, maxOutput: _m, ...others } = options ?? {}
    const chosen = efforts.find((one) => one === effort && one !== '')
    const numbers = {
      ...(temperature !== '' && { temperature: Number(temperature) }),
      ...(maxOutput !== '' && { maxOutput: Number(maxOutput) }),
    }
    const next: Settings = {
      ...rest,
      ...(system.trim() !== '' && { system }),
      ...(policy !== '' && { policy: ownPolicy && policy === own ? ownPolicy : (policy as 'full') }),
      ...(offered.length < all.length && { tools: offered }),
      ...((chosen || options || Object.keys(numbers).length > 0) && {
        options: { ...others, ...(chosen && { effort: chosen }), ...numbers },
      }),
    }
    if (await changeSettings(next)) close()
  }

  return (
    <FormDialog title="Settings of this conversation" onClose={close} onSave={() => void save()}>
      <label>
        Instructions
        <textarea
          rows={5}
          value={system}
          placeholder="Instructions for the model, sent with every request"
          onInput={(event) => setSystem(event.currentTarget.value)}
        />
      </label>
      <label>
        Context
        <select value={policy} onChange={(event) => setPolicy(event.currentTarget.value)}>
          {Object.entries(policies).map(([name, words]) => (
            <option key={name} value={name}>
              {words}
            </option>
          ))}
          {ownPolicy && <option value={own}>Custom (set by the API)</option>}
        </select>
      </label>
      <label>
        Reasoning effort
        <select value={effort} onChange={(event) => setEffort(event.currentTarget.value)}>
          {efforts.map((name) => (
            <option key={name} value={name}>
              {name || 'default'}
            </option>
          ))}
        </select>
      </label>
      <label>
        Temperature
        <input
          type="number"
          min="0"
          max="2"
          step="0.1"
          placeholder="default"
          value={temperature}
          onInput={(event) => setTemperature(event.currentTarget.value)}
        />
      </label>
      <label>
        Output limit, in tokens
        <input
          type="number"
          min="1"
          step="1"
          placeholder="default"
          value={maxOutput}
          onInput={(event) => setMaxOutput(event.currentTarget.value)}
        />
      </label>
      {all.length > 0 && (
        <fieldset>
          <legend>Tools</legend>
          {all.map((tool) => (
            <label key={tool.name} class="check">
              <input
                type="checkbox"
                checked={offered.includes(tool.name)}
                onChange={(event) =>
                  setOffered(
                    event.currentTarget.checked
                      ? [...offered, tool.name]
                      : offered.filter((name) => name !== tool.name),
                  )
                }
              />
              <span>
                {tool.name}
                {tool.description && <small>{tool.description}</small>}
              </span>
            </label>
          ))}
        </fieldset>
      )}
    </FormDialog>
  )
}
