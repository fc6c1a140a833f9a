// The tool settings: the agent, the tools, their MCP servers, and lasting permissions.

import { current } from '../state/conversation.ts'
import { allowChanged, agents, grants, mcpServers, restartServer, revoke, tools } from '../state/toolbox.ts'
import { status } from '../state/session.ts'
import type { GrantView, McpServerView } from '../api/types.ts'

export function AgentChoice({ value, onChange }: { value: string; onChange: (name: string) => void }) {
  if (agents.value.length === 0) return null
  const chosen = agents.value.find((one) => one.name === value)
  return (
    <label>
      Agent
      <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        <option value="">None</option>
        {agents.value.map((one) => (
          <option key={one.name} value={one.name}>
            {one.name}
          </option>
        ))}
      </select>
      {(chosen?.problem ?? chosen?.description) && <small class="hint">{chosen?.problem ?? chosen?.description}</small>}
    </label>
  )
}

/** `undefined`: the default tools of the agent or the server. */
export function ToolChoice(props: {
  offered: string[] | undefined
  onChange: (names: string[] | undefined) => void
  folder: string
  onFolder: (folder: string) => void
}) {
  const { offered, onChange } = props
  if (tools.value.length === 0) return null
  const usual = tools.value.filter((tool) => tool.usual).map((tool) => tool.name)
  const now = offered ?? usual
  const isOn = (name: string, server: string | undefined) =>
    now.includes(name) || (server !== undefined && now.includes(server))
  return (
    <fieldset>
      <legend>Tools</legend>
      {status.value?.folder !== undefined && (
        <label>
          Folder of the file and command tools
          <input
            list="folders"
            value={props.folder}
            placeholder={status.value.folder}
            onInput={(event) => props.onFolder(event.currentTarget.value)}
          />
          <datalist id="folders">
            {(status.value.folders ?? []).map((folder) => (
              <option key={folder} value={folder} />
            ))}
          </datalist>
          <small class="hint">
            One that the server was started with (synapse serve --folder), or a folder inside it.
          </small>
        </label>
      )}
      {tools.value.map((tool) => (
        <label key={tool.name} class="check">
          <input
            type="checkbox"
            checked={isOn(tool.name, tool.server)}
            onChange={(event) => {
              const on = tools.value.filter((one) =>
                one === tool ? event.currentTarget.checked : isOn(one.name, one.server),
              )
              onChange(on.map((one) => one.name))
            }}
          />
          <span>
            {tool.name}
            <small>
              {[tool.server && `from ${tool.server}`, tool.asks && 'asks first', tool.description]
                .filter(Boolean)
                .join(' · ')}
            </small>
          </span>
        </label>
      ))}
      {offered !== undefined && (
        <button type="button" class="plain" onClick={() => onChange(undefined)}>
          Use the default tools
        </button>
      )}
    </fieldset>
  )
}

const stateWords: Record<McpServerView['state'], string> = {
  idle: 'not started',
  connecting: 'connecting',
  connected: 'connected',
  away: 'not reachable',
}

export function McpServers() {
  if (mcpServers.value.length === 0) return null
  return (
    <fieldset>
      <legend>MCP servers</legend>
      <ul class="mcp-servers">
        {mcpServers.value.map((server) => (
          <li key={server.name}>
            <span class={`mcp-state ${server.state}`}>
              <strong>{server.name}</strong> {stateWords[server.state]}{' '}
              {server.problem !== undefined && <small class="warning">{server.problem}</small>}
            </span>
            <button type="button" onClick={() => void restartServer(server.name)}>
              Restart
            </button>
            {server.waiting.map((tool) => (
              <p key={tool.name} class="hint">
                {tool.name} {tool.added ? 'is new' : 'has changed'}.{' '}
                <button type="button" class="plain" onClick={() => void allowChanged(server.name, tool.name)}>
                  Allow {tool.name}
                </button>
              </p>
            ))}
          </li>
        ))}
      </ul>
    </fieldset>
  )
}

export function Grants() {
  const here = (one: GrantView) => one.conversationId === undefined || one.conversationId === current.value?.id
  const shown = grants.value.filter(here)
  if (shown.length === 0) return null
  return (
    <fieldset>
      <legend>Allowed without asking</legend>
      <ul class="mcp-servers">
        {shown.map((one) => (
          <li key={one.id}>
            <span>
              <strong>{one.tool}</strong> {one.conversationId === undefined ? 'always' : 'in this conversation'}
            </span>
            <button type="button" onClick={() => void revoke(one)}>
              Ask again
            </button>
          </li>
        ))}
      </ul>
    </fieldset>
  )
}
