// Writes the tables of settings in the documentation, between their markers, from src/settings.
// Run it after a change to the settings: node scripts/settings-tables.ts

import { readFileSync, writeFileSync } from 'node:fs'
import type { Rule } from '../src/settings/rule.ts'
import {
  compactionFields,
  guardFields,
  httpFields,
  optionFields,
  policyFields,
  sharedFields,
} from '../src/settings/schema.ts'

type Fields = Readonly<Record<string, Rule>>

/** By the name in its marker: `<!-- settings: policy -->`. */
const tables: Readonly<Record<string, Fields>> = {
  policy: policyFields,
  compaction: compactionFields,
  options: optionFields,
  guards: guardFields,
  run: sharedFields,
  http: httpFields,
}

export const pages = ['docs/context.md', 'docs/configuration.md', 'docs/http-api.md'].map(
  (path) => new URL(`../${path}`, import.meta.url),
)

/** The page with its current tables. */
export function withTables(page: string): string {
  return page.replaceAll(
    /(<!-- settings: (\w+) -->\n)[^]*?(<!-- \/settings -->)/g,
    (_, start: string, name: string, end: string) => {
      const fields = tables[name]
      if (!fields) throw new Error(`there is no table "${name}"; the tables are ${Object.keys(tables).join(', ')}`)
      return `${start}\n${tableOf(fields)}\n\n${end}`
    },
  )
}

function tableOf(fields: Fields): string {
  const cells = Object.entries(fields).map(([key, rule]) => [`\`${key}\``, kindOf(rule), rule.description ?? ''])
  const lines = [['setting', 'value', 'meaning'], ...cells]
  const widths = [0, 1, 2].map((column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)))
  const written = lines.map((line) => `| ${line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`)
  return [written[0], `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...written.slice(1)].join('\n')
}

/** The allowed values, in a few words. */
function kindOf(rule: Rule): string {
  if (rule.anyOf) return [...new Set(rule.anyOf.map(kindOf))].join(', ')
  if (rule.enum) return rule.enum.map((value) => `\`${value}\``).join(', ')
  if (rule.type === 'array') return `list of ${rule.items ? kindOf(rule.items) : 'values'}`
  if (rule.type === 'object') return rule.properties ? mapOf(Object.keys(rule.properties)) : 'object'
  if (rule.type === 'integer') return `whole number ${rangeOf(rule)}`
  if (rule.type === 'number') return `number ${rangeOf(rule)}`
  if (rule.type === 'null') return '`null`'
  return rule.type === 'boolean' ? '`true`, `false`' : rule.otherwise ? 'model' : 'text'
}

/** A large object has its own table. */
function mapOf(keys: readonly string[]): string {
  return keys.length > 3 ? 'settings' : `\`{ ${keys.join(', ')} }\``
}

function rangeOf({ minimum, exclusiveMinimum, maximum }: Rule): string {
  const from = exclusiveMinimum === undefined ? `from ${minimum ?? 0}` : `above ${exclusiveMinimum}`
  return `${from}${maximum === undefined ? '' : ` to ${maximum}`}`
}

if (import.meta.main) for (const page of pages) writeFileSync(page, withTables(readFileSync(page, 'utf8')))
