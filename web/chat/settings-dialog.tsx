// The settings of a conversation: instructions, context policy, effort, tools.

import { useState } from 'preact/hooks'
import type { Settings } from '../api/types.ts'
import { FormDialog } from '../parts/dialog.tsx'
import { changeSettings, settings } from '../state/conversation.ts'
import { changingSettings } from '../state/surface.ts'
import { agents, loadToolbox, mcpServers, tools } from '../state/toolbox.ts'
import { AgentChoice, Grants, McpServers, ToolChoice } from './toolbox-fields.tsx'

const policies: Record<string, string> = {
  '': 'Default',
  economy: 'Economy: drop old tool results when keeping them costs more',
  classic: 'Classic: the last 20 messages, 3 tool turns',
  full: 'Full: everything',
  small: 'Small: for models with a small window',
}
/** A custom policy, which only the API can set. */
const customPolicy = 'own'
const efforts = ['', 'none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const

/** The settings in the fields. */
interface Fields {
  system: string
  policy: string
  effort: string
  temperature: string
  maxOutput: string
  agent: string
  /** Of the file and command tools; empty: that of the server. */
  folder: string
  /** Absent: the default tools of the agent or the server. */
  tools: string[] | undefined
}

export function SettingsDialog() {
  const now = settings.value
  const [fields, setFields] = useState(() => fieldsOf(now))
  const [loading] = useState(loadToolbox)
  const change = (part: Partial<Fields>) => setFields({ ...fields, ...part })

  function close(): void {
    changingSettings.value = false
  }

  async function save(): Promise<void> {
    await loading
    if (await changeSettings(settingsFrom(now, fields))) close()
  }

  return (
    <FormDialog title="Settings of this conversation" onClose={close} onSave={() => void save()}>
      <label>
        Instructions
        <textarea
          rows={5}
          value={fields.system}
          placeholder="Instructions for the model, sent with every request"
          onInput={(event) => change({ system: event.currentTarget.value })}
        />
      </label>
      <Choice label="Context" value={fields.policy} onChange={(policy) => change({ policy })}>
        {[
          ...Object.entries(policies),
          ...(typeof now.policy === 'object' ? [[customPolicy, 'Custom (set by the API)']] : []),
        ]}
      </Choice>
      <Choice label="Reasoning effort" value={fields.effort} onChange={(effort) => change({ effort })}>
        {efforts.map((name) => [name, name || 'default'])}
      </Choice>
      <NumberField
        label="Temperature"
        value={fields.temperature}
        limits={{ min: 0, max: 2, step: 0.1 }}
        onInput={(temperature) => change({ temperature })}
      />
      <NumberField
        label="Output limit, in tokens"
        value={fields.maxOutput}
        limits={{ min: 1, step: 1 }}
        onInput={(maxOutput) => change({ maxOutput })}
      />
      <AgentChoice value={fields.agent} onChange={(agent) => change({ agent })} />
      <ToolChoice
        offered={fields.tools}
        onChange={(tools) => change({ tools })}
        folder={fields.folder}
        onFolder={(folder) => change({ folder })}
      />
      <McpServers />
      <Grants />
    </FormDialog>
  )
}

function fieldsOf(now: Settings): Fields {
  const { options, policy } = now
  return {
    system: now.system ?? '',
    policy: typeof policy === 'object' ? customPolicy : (policy ?? ''),
    effort: options?.effort ?? '',
    temperature: String(options?.temperature ?? ''),
    maxOutput: String(options?.maxOutput ?? ''),
    agent: now.agent ?? '',
    folder: now.folder ?? '',
    tools: now.tools,
  }
}

function settingsFrom(now: Settings, fields: Fields): Settings {
  const { system: _s, policy: ownPolicy, options, tools: _t, agent: _a, folder: _f, ...rest } = now
  const { effort: _e, temperature: _t2, maxOutput: _m, ...others } = options ?? {}
  const effort = efforts.find((one) => one === fields.effort && one !== '')
  const chosen = {
    ...(effort && { effort }),
    ...(fields.temperature !== '' && { temperature: Number(fields.temperature) }),
    ...(fields.maxOutput !== '' && { maxOutput: Number(fields.maxOutput) }),
  }
  const policy = fields.policy === customPolicy ? ownPolicy : (fields.policy as 'full')
  return {
    ...rest,
    ...(fields.system.trim() !== '' && { system: fields.system }),
    ...(fields.policy !== '' && policy !== undefined && { policy }),
    ...(fields.agent !== '' && { agent: fields.agent }),
    // A chosen agent sets its model; another one can be picked afterwards.
    ...(fields.agent !== (now.agent ?? '') && modelOf(fields.agent)),
    ...(fields.folder.trim() !== '' && { folder: fields.folder.trim() }),
    ...(fields.tools && { tools: fields.tools.filter(isKnown) }),
    ...((options || Object.keys(chosen).length > 0) && { options: { ...others, ...chosen } }),
  }
}

function modelOf(agent: string): Pick<Settings, 'model'> {
  const model = agents.value.find(({ name }) => name === agent)?.model
  return model === undefined ? {} : { model }
}

/** A removed tool would be refused. */
function isKnown(name: string): boolean {
  return tools.value.some((tool) => tool.name === name) || mcpServers.value.some((server) => server.name === name)
}

function Choice(props: {
  label: string
  value: string
  onChange: (value: string) => void
  children: (readonly (string | undefined)[])[]
}) {
  return (
    <label>
      {props.label}
      <select value={props.value} onChange={(event) => props.onChange(event.currentTarget.value)}>
        {props.children.map(([name, words]) => (
          <option key={name} value={name}>
            {words}
          </option>
        ))}
      </select>
    </label>
  )
}

function NumberField(props: {
  label: string
  value: string
  limits: { min: number; max?: number; step: number }
  onInput: (value: string) => void
}) {
  return (
    <label>
      {props.label}
      <input
        type="number"
        {...props.limits}
        placeholder="default"
        value={props.value}
        onInput={(event) => props.onInput(event.currentTarget.value)}
      />
    </label>
  )
}
