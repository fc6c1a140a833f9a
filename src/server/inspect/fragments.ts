// A request body of any wire, split into readable pieces: each tool, the system prompt, each message. They come in the
// order in which providers read and cache them: tools, system, messages.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'

type FragmentKind = 'settings' | 'tool' | 'system' | 'message'
type Speaker = 'system' | 'user' | 'assistant' | 'tool'

export interface Fragment {
  kind: FragmentKind
  /** Its path in the body. */
  path: string
  value: Json
  speaker?: Speaker
}

const systemNames = new Set(['system', 'instructions', 'systemInstruction', 'system_instruction'])
const messageNames = new Set(['messages', 'input', 'contents'])

export function fragmentsOf(body: JsonObject): Fragment[] {
  const settings: JsonObject = {}
  const tools: Fragment[] = []
  const system: Fragment[] = []
  const messages: Fragment[] = []
  for (const [name, value] of Object.entries(body)) {
    if (value === undefined) continue
    if (name === 'tools' && Array.isArray(value)) {
      for (const [i, tool] of value.entries()) tools.push({ kind: 'tool', path: `tools[${i}]`, value: tool })
    } else if (systemNames.has(name)) {
      system.push({ kind: 'system', path: name, value, speaker: 'system' })
    } else if (messageNames.has(name) && Array.isArray(value)) {
      for (const [i, item] of value.entries()) {
        messages.push({ kind: 'message', path: `${name}[${i}]`, value: item, ...spokenBy(item) })
      }
    } else if (messageNames.has(name)) {
      messages.push({ kind: 'message', path: name, value, speaker: 'user' })
    } else {
      settings[name] = value
    }
  }
  return [{ kind: 'settings', path: '', value: settings }, ...tools, ...system, ...messages]
}

function spokenBy(item: Json): { speaker: Speaker } {
  if (!isObject(item)) return { speaker: 'user' }
  const { role, type } = item
  if (role === 'system' || role === 'developer') return { speaker: 'system' }
  if (role === 'tool' || role === 'function') return { speaker: 'tool' }
  if (role === 'model' || role === 'assistant') return { speaker: 'assistant' }
  if (role === 'user') return { speaker: 'user' }
  if (type === 'user_input') return { speaker: 'user' }
  if (typeof type === 'string' && /^(function_result|.*_output|mcp_approval_response)$/.test(type)) {
    return { speaker: type === 'model_output' ? 'assistant' : 'tool' }
  }
  return { speaker: 'assistant' }
}
