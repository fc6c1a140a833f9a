// What the model reads of a body of the Responses API.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { listIn, textIn } from '../shared/json-fields.ts'
import { blocksOf, cacheOptions, closed, segment, type Prompt } from '../shared/prompt.ts'

export function promptOf(body: JsonObject): Prompt {
  const segments = [
    ...listIn(body.tools).map((tool) => segment('tools', 'tools', tool)),
    ...blocksOf(body.instructions, 'input_text').map((block) => segment('system', 'system', block)),
  ]
  const input: Json[] = typeof body.input === 'string' ? [{ role: 'user', content: body.input }] : listIn(body.input)
  for (const item of input) {
    if (!isObject(item)) continue
    if (typeof item.role === 'string') {
      const place = item.role === 'system' || item.role === 'developer' ? 'system' : 'messages'
      const blocks = blocksOf(item.content, item.role === 'assistant' ? 'output_text' : 'input_text')
      segments.push(...closed(blocks.map((block) => segment(place, textIn(item.role), block))))
    } else {
      const { id: _id, status: _status, ...rest } = item
      const role = textIn(item.type).endsWith('_output') ? 'tool' : 'assistant'
      segments.push(...closed([segment('messages', role, rest)]))
    }
  }
  const text = isObject(body.text) ? body.text : {}
  const { effort } = isObject(body.reasoning) ? body.reasoning : {}
  return {
    segments,
    settings: JSON.stringify([text.format ?? null, text.verbosity ?? null, effort ?? null, body.service_tier ?? null]),
    messageSettings: '',
    ...cacheOptions(body),
  }
}
