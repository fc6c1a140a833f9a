// What a local server does with a request: it renders the messages with the model's chat template, and the model never
// sees what the template ignores. templates.json says for each known template how a history must be encoded so that all
// of it is rendered; scripts/templates.ts determines that with a real server.

import { hash } from 'node:crypto'
import data from './templates.json' with { type: 'json' }
import type { Quirks } from '../wires/wire.ts'

/** How a history must be encoded for a template. */
export type TemplateForm = Pick<
  Quirks,
  | 'separateCalls'
  | 'oneCallPerTurn'
  | 'noSystem'
  | 'shortCallIds'
  | 'flatArguments'
  | 'bridgeAfterTool'
  | 'toolMessages'
>

export interface KnownTemplate {
  digest: string
  /** The signature for finding similar templates: the minimum hashes of its word triples. */
  sketch: number[]
  form: TemplateForm
}

interface TemplateData {
  /** For unknown templates: renders everything in more of the known ones than any other form with tool calls. */
  careful: TemplateForm
  templates: Record<string, KnownTemplate>
}

export const templateData: TemplateData = data as TemplateData

export interface FoundTemplate {
  /** The known template that it equals or most resembles; absent: none resembles it. */
  family?: string
  form: TemplateForm
}

/** The same template, or the most similar one. */
export function formFor(template: string): FoundTemplate {
  const digest = digestOf(template)
  const sketch = sketchOf(template)
  let family: string | undefined
  let most = leastAlike
  for (const [name, known] of Object.entries(templateData.templates)) {
    const alike = known.digest === digest ? 1 : likeness(known.sketch, sketch)
    if (alike < most || (alike === most && family !== undefined)) continue
    family = name
    most = alike
  }
  const known = family === undefined ? undefined : templateData.templates[family]
  return known && family !== undefined ? { family, form: known.form } : { form: templateData.careful }
}

/** Publishers change a line here and there; different templates have less in common than this. */
const leastAlike = 0.6

const sketchSize = 48

export function digestOf(template: string): string {
  return hash('sha256', template.trim(), 'hex').slice(0, 16)
}

/** One number per hash function: its minimum over all word triples (MinHash). */
export function sketchOf(template: string): number[] {
  const words = template.match(/[\w|<>[\]]+/g) ?? []
  const least = Array.from({ length: sketchSize }, () => 0xffffffff)
  for (let i = 0; i + 2 < words.length; i++) {
    let value = fnv(`${words[i]} ${words[i + 1]} ${words[i + 2]}`)
    for (let n = 0; n < sketchSize; n++) {
      value = Math.imul(value ^ (value >>> 15), 0x2c1b3c6d + 2 * n) >>> 0
      if (value < (least[n] ?? 0)) least[n] = value
    }
  }
  return least
}

function fnv(text: string): number {
  let value = 0x811c9dc5
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193) >>> 0
  return value
}

function likeness(a: readonly number[], b: readonly number[]): number {
  return a.filter((value, i) => value === b[i]).length / sketchSize
}
