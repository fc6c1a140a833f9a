// The parts of a Converse body on the wire: each content block is an object with exactly one member. Checked 2026-11
// against @aws-sdk/client-bedrock-runtime 3.1162.0.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { IdGrammar } from '../shared/ids.ts'

export const protocolId = 'bedrock-converse'

export const callIdGrammar: IdGrammar = { prefix: 'tooluse_', length: 22, fits: /^[a-zA-Z0-9_-]{1,64}$/ }

/** Some models require ids of exactly this many letters and digits, although others are issued. */
export function shortIds(length: number): IdGrammar {
  return { prefix: '', length, fits: new RegExp(`^[a-zA-Z0-9]{${length}}$`) }
}

export const toolNamePattern = /^[a-zA-Z0-9_-]{1,64}$/
export const toolNameLength = 64

export const imageFormats: Readonly<Record<string, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpeg',
  'image/gif': 'gif',
  'image/webp': 'webp',
}

export const documentFormats: Readonly<Record<string, string>> = {
  'application/pdf': 'pdf',
  'text/csv': 'csv',
  'application/msword': 'doc',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
  'application/vnd.ms-excel': 'xls',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
  'text/html': 'html',
  'text/plain': 'txt',
  'text/markdown': 'md',
}

/** The type of a block: the name of its only member. */
export function kindOf(block: Json | undefined): string {
  return isObject(block) ? (Object.keys(block)[0] ?? '') : ''
}

/** The member of a block, if it is an object. */
export function inside(block: Json | undefined, kind: string): JsonObject | undefined {
  const value = isObject(block) ? block[kind] : undefined
  return isObject(value) ? value : undefined
}

export function textBlock(text: string): JsonObject {
  return { text }
}

/** Signed by its model, or encrypted: only such reasoning is accepted back. */
export function isSignedReasoning(block: JsonObject): boolean {
  const reasoning = inside(block, 'reasoningContent')
  const text = inside(reasoning, 'reasoningText')
  return reasoning?.redactedContent !== undefined || (typeof text?.signature === 'string' && text.signature !== '')
}
