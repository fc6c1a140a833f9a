// The OpenAPI document, generated from the routes.

import { OpenAPIHono, z } from '@hono/zod-openapi'
import type { Answered, Route } from './route.ts'
import { errorBody } from './views.ts'

export function openApiOf(routes: readonly Route[], version: string, keysRequired: boolean): object {
  const registry = new OpenAPIHono()
  registry.openAPIRegistry.registerComponent('securitySchemes', 'key', { type: 'http', scheme: 'bearer' })
  for (const route of routes) registry.openAPIRegistry.registerPath(pathOf(route))
  return registry.getOpenAPI31Document({
    openapi: '3.1.0',
    info: {
      title: 'Synapse',
      version,
      description: 'One conversation, any model, nothing lost.',
      license: { name: 'MIT', url: 'https://spdx.org/licenses/MIT' },
    },
    servers: [{ url: '/' }],
    security: keysRequired ? [{ key: [] }] : [{}, { key: [] }],
  })
}

type Path = Parameters<OpenAPIHono['openAPIRegistry']['registerPath']>[0]

function pathOf(route: Route): Path {
  const names = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  const [, , resource = ''] = route.path.split('/')
  const { answer } = route
  const errors = route.hasPlainErrors
    ? { 'text/plain': { schema: z.string() } }
    : { 'application/json': { schema: errorBody } }
  return {
    operationId: route.operationId,
    tags: [resource],
    method: route.method,
    path: route.path,
    summary: route.summary,
    description: `Access: ${route.access}.`,
    request: {
      ...(names.length > 0 && { params: z.object(Object.fromEntries(names.map((name) => [name, z.string()]))) }),
      ...(route.query && { query: route.query as z.ZodObject }),
      ...(route.startsRun && { headers: z.object({ 'idempotency-key': z.string().max(255).optional() }) }),
      ...(route.body && { body: { required: true, content: { 'application/json': { schema: route.body } } } }),
    },
    responses: {
      [answer.status]: { description: answer.description, ...contentOf(answer, route.startsRun) },
      default: { description: 'What is wrong.', content: errors },
    },
  }
}

function contentOf(
  { schema, types }: Answered,
  startsRun: boolean,
): { content?: Record<string, { schema: z.ZodType }> } {
  const all = [...(types ?? (schema ? ['application/json'] : [])), ...(startsRun ? ['text/event-stream'] : [])]
  if (all.length === 0) return {}
  const schemaOf = (type: string) => (type === 'application/json' ? (schema ?? z.unknown()) : z.string())
  return { content: Object.fromEntries(all.map((type) => [type, { schema: schemaOf(type) }])) }
}
