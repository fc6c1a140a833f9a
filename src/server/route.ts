// A route: a path, the access it needs, its input, and its handler. Access is part of it, so that no route lacks it;
// the OpenAPI document is generated from the same, so that no route is missing there.

import type { z } from '@hono/zod-openapi'
import { badInput, SynapseError } from '../core/error.ts'
import type { Conversation } from '../core/log.ts'
import { zodProblems } from '../config/zod-problems.ts'
import { lineOf } from '../settings/check.ts'
import { parseJson, readBody, requireJsonType } from './body.ts'
import type { ServerContext } from './context.ts'
import type { Access } from './keys.ts'
import { allow, type Principal } from './principal.ts'
import type { Store } from '../store/store.ts'

export interface Route {
  /** The name of the function in a generated client. */
  operationId: string
  method: 'get' | 'post' | 'patch' | 'delete'
  /** With `{names}` for the variable parts. */
  path: string
  access: Access
  summary: string
  query?: z.ZodType
  body?: z.ZodType
  answer: Answered
  /** Its clients show the body of an error as it is: the message alone. */
  hasPlainErrors?: boolean
  /** Accepts an Idempotency-Key, and answers with a stream if that is requested. */
  startsRun: boolean
  respond: (authorised: RouteRequest) => Promise<Response>
}

export interface Answered {
  status: number
  description: string
  schema?: z.ZodType
  /** Which of these it is; `application/json` by default. */
  types?: readonly string[]
}

/** An authorised request. */
interface RouteRequest {
  request: Request
  params: Readonly<Record<string, string>>
  principal: Principal
  server: ServerContext
}

export interface Call<Q, B> extends RouteRequest {
  owner: string
  query: Q
  body: B
  /** The body as received. */
  text: string
  bytes: Uint8Array
  param: (name: string) => string
  /** The conversation `{id}` of the path, or 404. */
  conversation: () => Promise<Conversation>
}

export function route<Q = unknown, B = unknown>(spec: {
  operationId: string
  method: Route['method']
  path: string
  access: Access
  summary: string
  query?: z.ZodType<Q>
  body?: z.ZodType<B>
  answer: Answered
  hasPlainErrors?: boolean
  startsRun?: boolean
  /** The handler parses and checks the body itself. */
  takesBytes?: boolean
  /** Which bodies a program may send without their content type. */
  untyped?: (body: B) => boolean
  handle: (call: Call<Q, B>) => Promise<Response>
}): Route {
  const { handle, ...about } = spec
  return {
    ...about,
    startsRun: spec.startsRun ?? false,
    async respond(authorised) {
      const { request, params, principal, server } = authorised
      const { owner } = principal
      allow(principal, spec.access)
      for (const value of Object.values(params)) {
        if (!/^[A-Za-z0-9._:-]{1,100}$/.test(value)) throw notHere()
      }
      const query = spec.query ? check(spec.query, queryOf(request), 'The query') : (undefined as Q)
      const bytes = spec.body
        ? await readBody(request, server.limits.body, spec.untyped !== undefined)
        : new Uint8Array()
      const { text, value } = spec.body && !spec.takesBytes ? parseJson(bytes) : { text: '', value: undefined }
      const body = spec.body && !spec.takesBytes ? checkBody(spec.body, value) : (undefined as B)
      if (spec.untyped && !spec.untyped(body)) requireJsonType(request)
      const param = (name: string): string => {
        const parameter = params[name]
        if (parameter === undefined) throw new TypeError(`the route has no parameter ${name}`)
        return parameter
      }
      const conversation = () => requireConversation(server.store, owner, param('id'))
      return handle({ ...authorised, owner, query, body, text, bytes, param, conversation })
    },
  }
}

export function notHere(): SynapseError {
  return new SynapseError({
    kind: 'not-found',
    message: 'There is nothing at this path. /openapi.json lists all paths.',
  })
}

/** The conversation, or 404. */
export async function requireConversation(store: Store, owner: string, id: string): Promise<Conversation> {
  const conversation = await store.conversation(owner, id)
  if (!conversation) throw missing('conversation', id)
  return conversation
}

export function missing(what: string, id: string): SynapseError {
  return new SynapseError({ kind: 'not-found', message: `There is no ${what} ${id}.` })
}

/** A body can have a million problems; the first ones are enough to repair it. */
const mostProblems = 10

export function checkBody<T>(schema: z.ZodType<T>, value: unknown): T {
  return check(schema, value, 'The body')
}

function check<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const problems = zodProblems(schema, value).slice(0, mostProblems)
  throw badInput(`${what} is not valid: ${problems.map(lineOf).join('; ')}`)
}

function queryOf(request: Request): Record<string, string> {
  return Object.fromEntries(new URL(request.url).searchParams)
}
