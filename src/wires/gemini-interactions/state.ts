// Server state of the Interactions wire: the steps of earlier interactions, under the id of the last one. Only the
// steps are stored: tools, system instruction and settings must be sent again (checked 2026-11).

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { digestOf, escapes } from '../google/models.ts'
import { objectsIn, textIn } from '../shared/json-fields.ts'
import { Refusal } from '../shared/refusal.ts'
import { couldBeReal, seal, unseal } from '../shared/seal.ts'
import type { Incoming, Opened, ServerState } from '../service.ts'
import { createExpiringMap } from '../shared/expiring-map.ts'

interface StoredInteraction {
  steps: JsonObject[]
  whole: JsonObject
}

const lifetimeMs = 55 * 24 * 3_600_000

export function createInteractionsState(): ServerState {
  const interactions = createExpiringMap<StoredInteraction>(lifetimeMs)
  return {
    visit({ id = '' }, { method, owner, now }) {
      const interaction = interactions.get(id, owner, now)
      if (!interaction) throw unknownInteraction(id)
      if (method !== 'DELETE') return { body: interaction.whole }
      interactions.delete(id, owner)
      return { body: {} }
    },
    expire: (id) => interactions.expire(id),
    clear: () => interactions.clear(),
    open(incoming): Opened {
      const { body: sent, owner, now, replyId, model } = incoming
      const { previous_interaction_id: id, ...rest } = sent
      const previous = typeof id === 'string' ? interactions.get(id, owner, now) : undefined
      if (typeof id === 'string' && !previous) throw unknownInteraction(id)
      const body = previous ? { ...rest, input: [...previous.steps, ...stepsOf(sent.input)] } : rest
      return {
        body,
        see() {
          checkSignatures(incoming)
          return { view: body, finish, commit }
        },
      }

      function finish(reply: JsonObject): JsonObject {
        const steps = objectsIn(reply.steps).map((step) => signStep(step, model))
        return { ...reply, steps, ...(typeof id === 'string' && { previous_interaction_id: id }) }
      }

      function commit(whole: JsonObject): void {
        if (sent.store === false) return
        const steps = [...stepsOf(body.input), ...objectsIn(whole.steps)]
        interactions.put(replyId, owner, { steps, whole }, now)
      }
    },
  }
}

/** Neither status nor text is recorded; the table of codes has `not_found` with 404. */
function unknownInteraction(id: string): Refusal {
  return new Refusal(404, { error: { code: 'not_found', message: `Interaction ${id} not found.` } })
}

/** Input as steps: a string or bare content is a user message. */
function stepsOf(input: Json | undefined): JsonObject[] {
  if (typeof input === 'string') return [{ type: 'user_input', content: [{ type: 'text', text: input }] }]
  const list = isObject(input) ? [input] : objectsIn(input)
  if (list.length > 0 && list.every((item) => contentTypes.has(textIn(item.type))))
    return [{ type: 'user_input', content: list }]
  return list
}

const contentTypes = new Set(['text', 'image', 'audio', 'video', 'document'])

function checkSignatures({ body }: Incoming): void {
  for (const step of objectsIn(body.input)) {
    const { signature } = step
    if (typeof signature !== 'string' || escapes.has(signature) || couldBeReal(signature)) continue
    const payload = unseal(signature)
    if (payload && (step.type !== 'function_call' || payload.call === digestOf(step))) continue
    throw new Refusal(400, { error: { code: 'invalid_request', message: 'Thought signature is not valid.' } })
  }
}

function signStep(step: JsonObject, model: string): JsonObject {
  if (step.type === 'thought') return { ...step, signature: seal({ kind: 'thought', model }) }
  if (step.type !== 'function_call' || step.signature === undefined) return step
  return { ...step, signature: seal({ kind: 'thought', model, call: digestOf(step) }) }
}
