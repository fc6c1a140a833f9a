// What the model reads of a body of the Messages API.

import { isObject, type JsonObject } from '../../core/json.ts'
import { listIn, textIn } from '../shared/json-fields.ts'
import { blocksOf, closed, markOf, segment, type Prompt } from '../shared/prompt.ts'

export function promptOf(body: JsonObject): Prompt {
  const segments = [
    ...listIn(body.tools).map((tool) => segment('tools', 'tools', tool)),
    ...blocksOf(body.system, 'text').map((block) => segment('system', 'system', block)),
  ]
  for (const message of listIn(body.messages)) {
    if (!isObject(message)) continue
    segments.push(
      ...closed(blocksOf(message.content, 'text').map((block) => segment('messages', textIn(message.role), block))),
    )
  }
  // Automatic caching: one mark on the last block that can have one; it moves forward with every request.
  if (isObject(body.cache_control)) {
    const last = segments.findLast((one) => !/^\S+ \{"type":"(redacted_)?thinking"/.test(one.text))
    const mark = markOf(body.cache_control)
    if (last && mark) last.mark ??= mark
  }
  const { effort } = isObject(body.output_config) ? body.output_config : {}
  const pictures = segments.some((one) => one.media > 0)
  return {
    segments,
    settings: '',
    messageSettings: JSON.stringify([body.tool_choice ?? null, body.thinking ?? null, effort ?? null, pictures]),
  }
}
