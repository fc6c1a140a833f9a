// What the model reads of a body of generateContent.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { listIn, textIn } from '../shared/json-fields.ts'
import { closed, segment, type Prompt } from '../shared/prompt.ts'

export function promptOf(body: JsonObject): Prompt {
  const system = body.systemInstruction ?? body.system_instruction
  const segments = [
    ...listIn(body.tools).map((tool) => segment('tools', 'tools', tool)),
    ...partsOf(system).map((part) => segment('system', 'system', part)),
  ]
  for (const content of listIn(body.contents)) {
    if (!isObject(content)) continue
    const isResult = (part: Json) => isObject(part) && isObject(part.functionResponse)
    const role = (part: Json) => (isResult(part) ? 'tool' : textIn(content.role ?? 'user'))
    segments.push(...closed(partsOf(content).map((part) => segment('messages', role(part), part))))
  }
  return { segments, settings: '', messageSettings: '' }
}

function partsOf(content: Json | undefined): Json[] {
  if (typeof content === 'string') return [{ text: content }]
  return isObject(content) ? listIn(content.parts) : listIn(content)
}
