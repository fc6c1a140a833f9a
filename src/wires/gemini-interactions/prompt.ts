// What the model reads of a body of the Interactions API.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { listIn, textIn } from '../shared/json-fields.ts'
import { blocksOf, closed, segment, type Prompt } from '../shared/prompt.ts'

export function promptOf(body: JsonObject): Prompt {
  const segments = [
    ...listIn(body.tools).map((tool) => segment('tools', 'tools', tool)),
    ...blocksOf(body.system_instruction, 'text').map((block) => segment('system', 'system', block)),
  ]
  const input: Json[] = typeof body.input === 'string' ? [{ type: 'text', text: body.input }] : listIn(body.input)
  for (const step of input) {
    if (!isObject(step)) continue
    const content = step.type === 'user_input' || step.type === 'model_output' ? blocksOf(step.content, 'text') : [step]
    const role = step.type === 'function_result' ? 'tool' : isModelStep(step.type) ? 'assistant' : 'user'
    segments.push(...closed(content.map((piece) => segment('messages', role, piece))))
  }
  return { segments, settings: '', messageSettings: '' }
}

function isModelStep(type: Json | undefined): boolean {
  return type === 'model_output' || type === 'thought' || textIn(type).endsWith('_call')
}
