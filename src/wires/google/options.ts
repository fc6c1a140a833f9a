// Options that both Gemini wires handle in the same way: tools, tool choice, thinking, and cached content.

import type { Context, Note } from '../../core/context.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import type { Effort } from '../../settings/options.ts'
import { nearestEffort } from '../shared/options.ts'
import { toolDialects } from '../tool-schema/dialect.ts'
import { fitTool } from '../tool-schema/fit.ts'
import type { Target } from '../wire.ts'
import type { IdGrammar } from '../shared/ids.ts'
import type { Form, Encoding } from '../shared/pieces.ts'
import type { ProviderReference } from '../service.ts'

/** Ids are free text here; ours look like the API's, with a prefix that shows the difference. */
export const googleForm: Pick<Form, 'ids' | 'names' | 'midSystem'> = {
  ids: () => idGrammar,
  names: { pattern: /^[a-zA-Z_][a-zA-Z0-9_.:-]*$/, length: 128 },
  midSystem: 'G-1',
}
const idGrammar: IdGrammar = { prefix: 'call_', length: 12, fits: /^[^\0]{1,256}$/ }

/** A 32-bit number, on both wires. */
export const seedField = { name: 'seed', least: -(2 ** 31), most: 2 ** 31 - 1 }

/** `write` returns the declaration in the wire's own form. */
export function declarations(
  context: Context,
  { target, names, notes }: Encoding,
  write: (about: { name: string; description?: string }, schema: JsonObject) => JsonObject,
): JsonObject[] {
  const { tools, maxTools = context.tools.length } = target.capabilities
  if (!tools && context.tools.length > 0) {
    notes.push({ kind: 'dropped', what: 'all tools', why: 'the model supports no tools' })
    return []
  }
  if (context.tools.length > maxTools) {
    const what = `${context.tools.length - maxTools} tools`
    notes.push({ kind: 'dropped', what, why: `at most ${maxTools} can be declared`, at: `tools[${maxTools}]` })
  }
  const dialect = toolDialects[target.quirks.toolSchema ?? 'gemini']
  return context.tools.slice(0, maxTools).map((tool, index) => {
    const { description, schema } = fitTool(tool, dialect, `tools[${index}]`, notes)
    return write({ name: names.toWire(tool.name), ...(description !== undefined && { description }) }, schema)
  })
}

/** The choice as far as the target supports it; a tool by its name on the wire. */
export function toolChoice(
  context: Context,
  { target, names, notes }: Encoding,
): 'auto' | 'none' | 'required' | { tool: string } | undefined {
  const choice = target.options.toolChoice
  if (choice === undefined) return undefined
  const drop = (why: string) => void notes.push({ kind: 'dropped', what: 'the tool choice', why })
  if (context.tools.length === 0 || !target.capabilities.tools) return drop('no tools are declared')
  if (choice === 'auto' || choice === 'none') return choice
  if (!target.capabilities.forcedTool) return drop('the model cannot be forced to call a tool')
  if (choice === 'required') return choice
  if (!context.tools.some((tool) => tool.name === choice.tool)) return drop('the tool is not declared')
  return { tool: names.toWire(choice.tool) }
}

/** The supported effort nearest to the requested one. */
export function knownEffort(requested: Effort, target: Target, notes: Note[]): Effort | undefined {
  const effort = nearestEffort(requested, target.capabilities.efforts)
  if (effort === undefined) {
    notes.push({ kind: 'dropped', what: `effort ${requested}`, why: 'the model does not support it' })
  } else if (effort !== requested) {
    const why = `the model supports ${target.capabilities.efforts.join(', ')}`
    notes.push({ kind: 'changed', what: `effort ${requested} to ${effort}`, why })
  }
  return effort
}

/** Thinking cannot be turned off in Gemini 3: the lowest level is `minimal`, the highest `high`. */
export const thinkingLevels: Record<Effort, string> = {
  none: 'minimal',
  minimal: 'minimal',
  low: 'low',
  medium: 'medium',
  high: 'high',
  xhigh: 'high',
  max: 'high',
}

/** A cache of content that the provider has. */
export function cacheReference(field: string, name: Json | undefined): ProviderReference | undefined {
  if (typeof name !== 'string' || name === '') return undefined
  return { what: `${field} names content`, instead: 'send that content itself' }
}
