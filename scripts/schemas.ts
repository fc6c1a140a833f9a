// Writes schemas/*.schema.json, which editors read to complete and check agents and synapse.yaml.
// Run it after a change to the zod schemas: node scripts/schemas.ts

import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import * as z from 'zod'
import { agentSchema } from '../src/agents/schema.ts'
import { configSchema } from '../src/config/schema.ts'

export const folder: URL = new URL('../schemas/', import.meta.url)

export function schemaFiles(): Record<string, string> {
  const text = (schema: z.ZodType) =>
    `${JSON.stringify(z.toJSONSchema(schema, { target: 'draft-7', io: 'input' }), null, 2)}\n`
  return { 'agent.schema.json': text(agentSchema), 'synapse.schema.json': text(configSchema) }
}

if (import.meta.main) {
  mkdirSync(folder, { recursive: true })
  for (const [name, text] of Object.entries(schemaFiles())) writeFileSync(new URL(name, folder), text)
  execFileSync('oxfmt', [folder.pathname], { stdio: 'inherit' })
}
