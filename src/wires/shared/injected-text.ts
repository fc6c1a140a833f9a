// Sentences that Synapse itself puts into a request. They are part of the bytes in prompt caches (P4): changing one of
// them makes every cached prefix cold.

import type { Json } from '../../core/json.ts'

export const continueText = 'Continue.'
export const bridgeText = 'OK.'
export const openingText = '[The beginning of this conversation is not shown]'
export const emptyResultText = '(no output)'
export const orphanLabel = '[Tool Result - Previous Context]'
const flatCallLabel = '[Tool Call]'
export const flatResultLabel = '[Tool Result]'
export const documentsLabel = '[Documents]'
export const sourcesLabel = '[Sources]'
export const systemLabel = '[System]'
export const summaryLabel = '[Summary of the conversation so far]'

/** The form of arguments that are not a JSON object for a wire that requires one. */
const malformedKey = 'INVALID_JSON'

export function malformedInput(raw: string): { [malformedKey]: string } {
  return { [malformedKey]: raw }
}

export function unansweredText(name: string): string {
  return `The call of ${name} was interrupted before it gave a result.`
}

export function mediaStandIn(mediaType: string, name: string | undefined): string {
  return `[${mediaType}${name ? ` ${JSON.stringify(name)}` : ''}, not shown]`
}

export function flatCall(name: string, input: Json): string {
  return `${flatCallLabel} ${name} ${JSON.stringify(input)}`
}

export function flatResult(label: string, name: string, text: string, failed: boolean): string {
  return `${label} ${name}${failed ? ' (failed)' : ''}: ${text}`
}
