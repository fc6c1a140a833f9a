// Tools from a user's module: every export that is a tool, or a list of tools.

import { pathToFileURL } from 'node:url'
import { isObject } from '../core/json.ts'
import type { Tool } from '../core/tool.ts'

/** Throws one sentence, without the path: the caller knows which module was named. */
export async function toolsOfModule(path: string): Promise<Tool[]> {
  const exported = await load(path)
  const tools = new Set(Object.values(exported).flat().filter(isTool))
  if (tools.size > 0) return [...tools]
  throw new Error('exports no tools; a tool has a name, an input schema and a function run')
}

async function load(path: string): Promise<Record<string, unknown>> {
  try {
    return (await import(pathToFileURL(path).href)) as Record<string, unknown>
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('\n', 1)[0] : String(error)
    throw new Error(`cannot be loaded: ${reason}${isModuleInCommonJs(error) ? hint : ''}`, { cause: error })
  }
}

const hint = '; Node takes it for CommonJS: let it end in .mjs or .mts, or write "type": "module" into package.json'

/** `npm init` creates packages of type commonjs, where a file with `export` is a syntax error (checked 2026-11). */
function isModuleInCommonJs(error: unknown): boolean {
  return error instanceof SyntaxError && /^(Unexpected token 'export'|Cannot use import statement)/.test(error.message)
}

function isTool(value: unknown): value is Tool {
  if (!isObject(value)) return false
  const { name, input, run } = value as Record<string, unknown>
  return typeof name === 'string' && name !== '' && isObject(input) && typeof run === 'function'
}
