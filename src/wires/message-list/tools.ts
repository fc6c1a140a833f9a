// Tools as functions in the body of a request.

import type { ToolSpec } from '../../core/context.ts'
import type { JsonObject } from '../../core/json.ts'
import type { SchemaDialect } from '../tool-schema/dialect.ts'
import { fitTool } from '../tool-schema/fit.ts'
import type { Writer } from './dialect.ts'

export function functionTools(
  tools: readonly ToolSpec[],
  dialect: SchemaDialect,
  { names, notes }: Pick<Writer, 'names' | 'notes'>,
): JsonObject[] {
  return tools.map((tool, index) => {
    const { description, schema } = fitTool(tool, dialect, `tools[${index}]`, notes)
    return {
      type: 'function',
      function: {
        name: names.toWire(tool.name),
        ...(description !== undefined && { description }),
        parameters: schema,
      },
    }
  })
}
