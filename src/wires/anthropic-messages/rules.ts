// What the Messages API refuses, with its error messages, in about the order in which it checks. Written from the API's
// answers, not from the encoder's output. A body does not show its headers, so beta fields count as allowed.
//
// Rule numbers are those of docs/protocols/anthropic-messages.md.

import { isObject, type Json } from '../../core/json.ts'
import type { Issue, Profile } from '../wire.ts'
import { isUnheardOf, modelOf } from './models.ts'
import { checkBlocks } from './rules-blocks.ts'
import { checkCache } from './rules-cache.ts'
import { checkFeatures } from './rules-features.ts'
import { checkModel } from './rules-model.ts'
import { checkShape } from './rules-shape.ts'
import { checkAnswer, checkTools } from './rules-tools.ts'
import { checkTurns } from './rules-turns.ts'

export type Report = (rule: string, message: string, more?: Partial<Issue>) => void

export function refuse(body: Json, profile?: Profile): Issue[] {
  const issues: Issue[] = []
  const report: Report = (rule, message, more) => {
    issues.push({ rule, status: 400, type: 'invalid_request_error', message, ...more })
  }
  const { size, broken } = measure(body)
  if (size > maxBytes) {
    report('size', 'Request exceeds the maximum size', { status: 413, type: 'request_too_large' })
    return issues
  }
  if (broken) report('shape', 'The request body is not valid JSON: no low surrogate in string')
  if (!isObject(body)) {
    report('shape', 'Input should be a valid dictionary')
    return issues
  }
  const messages = checkShape(body, report)
  checkTools(body, report)
  if (!messages) return issues

  const model = profile?.model ?? (typeof body.model === 'string' ? body.model : '')
  if (isUnheardOf(model)) report('model', `model: ${model}`, { status: 404, type: 'not_found_error' })
  checkBlocks(messages, report)
  checkCache(body, messages, report)
  checkModel(body, messages, modelOf(model), report)
  checkAnswer(body, model, report)
  checkTurns(body, messages, report)
  checkFeatures(body, messages, report)
  return issues
}

const maxBytes = 32 * 1024 * 1024

/** The approximate size of the body, and whether it contains half a surrogate pair. */
function measure(value: Json | undefined): { size: number; broken: boolean } {
  let size = 0
  let broken = false
  const walk = (item: Json | undefined): void => {
    if (typeof item === 'string') {
      size += item.length
      broken ||= !item.isWellFormed()
    } else if (Array.isArray(item)) {
      size += item.length
      for (const one of item) walk(one)
    } else if (isObject(item)) {
      for (const key of Object.keys(item)) {
        size += key.length
        walk(item[key])
      }
    } else size += 4
  }
  walk(value)
  return { size, broken }
}
