// A reply as the events of an interaction, while it is streaming: each part is a step that is started, filled and
// stopped.

import type { Json, JsonObject } from '../../core/json.ts'
import { streamWriter, type StreamProfile, type StreamWriter } from '../shared/stream-writer.ts'
import { errorBody, eventsOf, stepSealer, stepsOf, whole } from './emulate.ts'
import { protocolId, textContent, type Step } from './types.ts'
import { objectIn } from '../shared/json-fields.ts'

export function writer(profile: StreamProfile): StreamWriter {
  const sealed = stepSealer(profile)
  let index = -1
  return streamWriter(protocolId, profile, {
    first() {
      const { replyId: id, model } = profile
      const interaction = { id, status: 'in_progress', object: 'interaction', model }
      return [
        { interaction, event_type: 'interaction.created' },
        { interaction_id: id, status: 'in_progress', event_type: 'interaction.status_update' },
      ]
    },
    open(part) {
      const [step] = part.type === 'text' || part.type === 'tool-call' ? stepsOf(part) : []
      if (part.type === 'reasoning') return [startStep({ type: 'thought' })]
      if (!step) return []
      const { content: _content, ...frame } = sealed(step)
      return [startStep(part.type === 'tool-call' ? { ...frame, arguments: {} } : frame)]
    },
    more(part, text) {
      if (part.type === 'text') return [delta({ text, type: 'text' })]
      if (part.type === 'tool-call') return [delta({ arguments: text, type: 'arguments_delta' })]
      return part.type === 'reasoning' ? [delta({ content: textContent(text), type: 'thought_summary' })] : []
    },
    close(part) {
      if (part.type === 'text') {
        const cited = part.citations && { annotations: part.citations, type: 'text_annotation_delta' }
        return [...(cited ? [delta(cited)] : []), stopStep()]
      }
      if (part.type === 'tool-call') return [stopStep()]
      if (part.type !== 'reasoning') return stepsOf(part).flatMap((step) => eventsOf(step, ++index))
      const { signature } = sealed({ type: 'thought' })
      return [...(signature === undefined ? [] : [delta({ signature, type: 'thought_signature' })]), stopStep()]
    },
    last(reply, facts) {
      const body = whole(reply, facts)
      const { steps: _steps, ...interaction } = objectIn(body)
      return [{ interaction: { ...interaction, ...profile.fields }, event_type: 'interaction.completed' }]
    },
    error: (issue) => ({ ...errorBody(issue), event_type: 'error' }),
  })

  function startStep(step: Step): Json {
    return { index: ++index, step, event_type: 'step.start' }
  }

  function delta(more: JsonObject): Json {
    return { index, delta: more, event_type: 'step.delta' }
  }

  function stopStep(): Json {
    return { index, event_type: 'step.stop' }
  }
}
