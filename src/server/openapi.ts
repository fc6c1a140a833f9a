// The OpenAPI document, generated from the routes.

import { OpenAPIHono, z } from '@hono/zod-openapi'
import type { Route } from './route.ts'
import { errorBody } from './views.ts'

export function openApiOf(routes: readonly Route[], version: string): object {
  const registry = new OpenAPIHono()
  registry.openAPIRegistry.registerComponent('securitySchemes', 'key', { type: 'http', scheme: 'bearer' })
  for (const route of routes) registry.openAPIRegistry.registerPath(pathOf(route))
  return registry.getOpenAPI31Document({
    openapi: '3.1.0',
    info: { title: 'Synapse', version, description: 'One conversation, any model, nothing lost.' },
    security: [{ key: [] }],
  })
}

type Path = Parameters<OpenAPIHono['openAPIRegistry']['registerPath']>[0]

function pathOf(route: Route): Path {
  const names = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  const { answer } = route
  const error = { description: 'What is wrong.', content: { 'application/json': { schema: errorBody } } }
  return {
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
      [answer.status]: {
        description: answer.description,
        ...((answer.schema ?? answer.type) !== undefined && {
          content: {
            [answer.type ?? 'application/json']: { schema: answer.schema ?? z.string() },
            ...(route.startsRun && { 'text/event-stream': { schema: z.string() } }),
          },
        }),
      },
      default: error,
    },
  }
}
