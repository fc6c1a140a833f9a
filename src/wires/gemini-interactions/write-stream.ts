// A reply as the events of an interaction, while it is streaming: each part is a step that is started, filled and
// stopped.

import { folding } from '../../core/fold.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { noUsage } from '../../core/usage.ts'
import { partsInOrder, type StreamProfile, type StreamWriter } from '../shared/stream-writer.ts'
import { errorBody, eventsOf, sealing, stepsOf, whole } from './emulate.ts'
import { protocolId, textContent, type Step } from './types.ts'

export function writer(profile: StreamProfile): StreamWriter {
  const fold = folding({ protocol: protocolId, provider: '', model: profile.model })
  const sealed = sealing(profile)
  let isBegun = false
  let index = -1
  const parts = partsInOrder({
    open(part) {
      const [step] = part.type === 'text' || part.type === 'tool-call' ? stepsOf(part) : []
      if (part.type === 'reasoning') return [started({ type: 'thought' })]
      if (!step) return []
      const { content: _content, ...frame } = sealed(step)
      return [started(part.type === 'tool-call' ? { ...frame, arguments: {} } : frame)]
    },
    more(part, text) {
      if (part.type === 'text') return [delta({ text, type: 'text' })]
      if (part.type === 'tool-call') return [delta({ arguments: text, type: 'arguments_delta' })]
      return part.type === 'reasoning' ? [delta({ content: textContent(text), type: 'thought_summary' })] : []
    },
    close(part) {
      if (part.type === 'text') {
        const cited = part.citations && { annotations: part.citations, type: 'text_annotation_delta' }
        return [...(cited ? [delta(cited)] : []), stopped()]
      }
      if (part.type === 'tool-call') return [stopped()]
      if (part.type !== 'reasoning') return stepsOf(part).flatMap((step) => eventsOf(step, ++index))
      const { signature } = sealed({ type: 'thought' })
      return [...(signature === undefined ? [] : [delta({ signature, type: 'thought_signature' })]), stopped()]
    },
  })

  return {
    push(event) {
      fold.push(event)
      return begun(parts.push(event))
    },
    end() {
      const { reply, usage = noUsage } = fold.result()
      const out = begun([...parts.end()])
      const body = whole({ ...reply, native: [] }, { ...profile, usage })
      const { steps: _steps, ...interaction } = isObject(body) ? body : {}
      const last = { interaction: { ...interaction, ...profile.fields }, event_type: 'interaction.completed' }
      return [...(isBegun ? out : first()), last]
    },
    fail: (issue) => [{ ...errorBody(issue), event_type: 'error' }],
  }

  function begun(events: Json[]): Json[] {
    return isBegun || events.length === 0 ? events : [...first(), ...events]
  }

  function first(): Json[] {
    isBegun = true
    const { replyId: id, model } = profile
    return [
      { interaction: { id, status: 'in_progress', object: 'interaction', model }, event_type: 'interaction.created' },
      { interaction_id: id, status: 'in_progress', event_type: 'interaction.status_update' },
    ]
  }

  function started(step: Step): Json {
    return { index: ++index, step, event_type: 'step.start' }
  }

  function delta(more: JsonObject): Json {
    return { index, delta: more, event_type: 'step.delta' }
  }

  function stopped(): Json {
    return { index, event_type: 'step.stop' }
  }
}
