// `POST /api/generate`: one prompt without roles, in place of messages, and a text in place of a message in the reply.
// Checked against the server's source of 2026-08.

import type { Note } from '../../core/context.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { RequestForm } from '../service.ts'
import { textIn } from '../shared/json-fields.ts'
import { isToken } from '../shared/sealed-token.ts'
import type { Issue } from '../wire.ts'
import { typeIssues } from './rules.ts'

export const generate: RequestForm = {
  refuse,
  request: chatOf,
  unsupported: ({ model, suffix }) => (textIn(suffix) === '' ? undefined : `${textIn(model)} does not support insert`),
  leftOut,
  token: ({ context }) => tokenIn(context),
  reply: generatedFrom,
}

const types = {
  prompt: ['string', 'string'],
  suffix: ['string', 'string'],
  system: ['string', 'string'],
  template: ['string', 'string'],
  context: ['array', '[]int'],
  raw: ['bool', 'bool'],
  images: ['array', '[]api.ImageData'],
} as const

function refuse(body: JsonObject): Issue[] {
  const issues = Object.entries(types).flatMap(([name, [kind, goType]]) =>
    typeIssues(body[name], kind, `GenerateRequest.${name}`, goType),
  )
  const { raw, template, system, context } = body
  if (raw === true && (template || system || hasNumbers(context))) {
    const message = 'raw mode does not support template, system, or context'
    issues.push({ rule: 'O-10', status: 400, message })
  }
  return issues
}

/** The equivalent chat. Without a prompt nothing is generated, whatever else the request contains. */
function chatOf(body: JsonObject): JsonObject {
  const {
    prompt,
    system,
    images,
    suffix: _suffix,
    template: _template,
    raw: _raw,
    context: _context,
    messages: _messages,
    tools: _tools,
    ...rest
  } = body
  const content = textIn(prompt)
  if (content === '') return { ...rest, messages: [] }
  const instructions = textIn(system)
  const question = { role: 'user', content, ...(Array.isArray(images) && images.length > 0 && { images }) }
  return { ...rest, messages: [...(instructions === '' ? [] : [{ role: 'system', content: instructions }]), question] }
}

function leftOut({ suffix, template, raw, context }: JsonObject, continues: boolean): Note[] {
  const ofServer = 'only an Ollama server has templates'
  const fields: [name: string, isGiven: boolean, why: string][] = [
    ['suffix', textIn(suffix) !== '', ofServer],
    ['template', textIn(template) !== '', ofServer],
    ['raw', raw === true, ofServer],
    ['context', hasNumbers(context) && !continues, 'it names no reply that is stored here'],
  ]
  return fields.flatMap(([what, isGiven, why]) => (isGiven ? [{ kind: 'dropped', what, why, at: `$.${what}` }] : []))
}

function hasNumbers(context: Json | undefined): boolean {
  return Array.isArray(context) && context.length > 0
}

/** The reply of that chat, or a line of it. */
function generatedFrom(chunk: JsonObject, token?: () => string | undefined): JsonObject {
  const { model, created_at, message, ...rest } = chunk
  if (!isObject(message)) return chunk
  const thinking = textIn(message.thinking)
  return {
    model: model ?? '',
    created_at: created_at ?? '',
    response: textIn(message.content),
    ...(thinking !== '' && { thinking }),
    ...rest,
    ...(rest.eval_count !== undefined && { context: numbersOf(token?.()) }),
  }
}

// An Ollama server encodes the conversation in `context` as the numbers of its tokens. Here they are the bytes of a
// token that names the reply.

function numbersOf(token: string | undefined): number[] {
  return token === undefined ? [] : [...Buffer.from(token, 'base64')]
}

function tokenIn(context: Json | undefined): string | undefined {
  if (!Array.isArray(context) || !context.every((byte) => typeof byte === 'number')) return undefined
  const token = Buffer.from(context).toString('base64')
  return isToken(token) ? token : undefined
}
