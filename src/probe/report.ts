// A probe as a file to attach to an issue. Keys never get this far; what could identify the account is removed here.

import { catalogue } from '../providers/catalogue.ts'
import { factsOf } from '../providers/price.ts'
import { rows as builtInRows } from '../providers/rows.ts'
import type { Outcome, ProbeRow } from './run.ts'

export interface ReportFacts {
  /** Of Synapse. */
  version: string
  /** Milliseconds since 1970. */
  now: number
}

/** Rows without ids of accounts, organizations, projects and requests, addresses, and names that a user chose. */
export function redactRows(rows: readonly ProbeRow[]): ProbeRow[] {
  return rows.map((row) => {
    const provider = builtInRows.some(({ id }) => id === row.provider) ? row.provider : ownProvider
    const model = isKnownModel(row) ? row.model : ownModel
    const names: [string, string][] = [
      ...(model === ownModel ? ([[row.model, ownModel]] as [string, string][]) : []),
      ...(provider === ownProvider ? ([[row.provider, ownProvider]] as [string, string][]) : []),
    ]
    const clean = (text: string): string =>
      withoutIds(names.reduce((all, [name, word]) => all.replaceAll(name, word), text))
    const { body, ...rest } = row
    return {
      ...rest,
      provider,
      model,
      observed: clean(row.observed),
      expected: clean(row.expected),
      ...(body !== undefined && { body: JSON.parse(clean(JSON.stringify(body))) }),
    }
  })
}

/** The report as Markdown: a summary, each difference with its request, and all checks. */
export function reportOf(results: readonly ProbeRow[], { version, now }: ReportFacts): string {
  const rows = redactRows(results)
  const differing = rows.filter(({ outcome }) => outcome === 'differs')
  const lines = [
    '# Synapse probe',
    '',
    `Synapse ${version}, ${new Date(now).toISOString().slice(0, 10)}. Keys, account ids, addresses and names of your own are taken out.`,
    '',
    ...summary(rows),
    '',
    '## Differences',
    '',
    ...(differing.length === 0 ? ['None.', ''] : differing.flatMap(difference)),
    '## All checks',
    '',
    '| wire | check | | result | the service |',
    '| --- | --- | --- | --- | --- |',
    ...rows.map((row) => tableLine([row.wire, row.check, row.about, outcomeWords[row.outcome], row.observed])),
  ]
  return `${lines.join('\n')}\n`
}

export const outcomeWords: Readonly<Record<Outcome, string>> = {
  'as-expected': 'as expected',
  differs: 'differs',
  unanswered: 'no answer',
  'not-sent': 'not sent',
}

const ownProvider = '[own provider]'
const ownModel = '[own model]'

/** A name from the catalogue is public; any other may be that of a deployment or a fine-tuned model. */
function isKnownModel({ provider, model }: ProbeRow): boolean {
  const row = builtInRows.find(({ id }) => id === provider)
  return (
    row !== undefined &&
    (row.defaultModel === model || Object.keys(factsOf(catalogue, row.catalogue ?? row.id, model)).length > 0)
  )
}

const idShapes: readonly [RegExp, string][] = [
  [/\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+\b/g, '[email]'],
  [/\bhttps?:\/\/[^\s"'`)\]}]+/g, '[address]'],
  [/\b[\w-]+(?:\.[\w-]+)*\.(?:com|net|org|io|ai|dev|cloud|invalid|local|internal)(?::\d+)?\b/g, '[address]'],
  [/\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b/g, '[address]'],
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, '[id]'],
  [/\b(?:org|user|proj|acct|acc|req|resp|sub|ws|wrkspc|team|key|gen|cus)[-_][A-Za-z0-9]{6,}\b/g, '[id]'],
  [
    /\b(projects?|organi[sz]ations?|accounts?|teams?|workspaces?|users?|tenants?)([/:=\s]+["'`]?)(?=[\w-]*\d)[\w-]{5,}/gi,
    '$1$2[id]',
  ],
]

function withoutIds(text: string): string {
  return idShapes.reduce((all, [shape, word]) => all.replaceAll(shape, word), text)
}

function summary(rows: readonly ProbeRow[]): string[] {
  const groups = Map.groupBy(rows, ({ provider, wire, model }) => `${provider} | ${wire} | ${model}`)
  return [
    '| provider | wire | model | as expected | differs | no answer | not sent |',
    '| --- | --- | --- | --- | --- | --- | --- |',
    ...[...groups].map(([name, rowsOfGroup]) => {
      const numbers = (Object.keys(outcomeWords) as Outcome[]).map(
        (kind) => rowsOfGroup.filter(({ outcome }) => outcome === kind).length,
      )
      return `| ${name} | ${numbers.join(' | ')} |`
    }),
  ]
}

function difference({ provider, wire, check, about, expected, observed, body }: ProbeRow): string[] {
  return [
    `### ${provider}, ${wire}, ${check}: ${about}`,
    '',
    `- expected: ${oneLine(expected)}`,
    `- the service: ${oneLine(observed)}`,
    '',
    ...(body === undefined ? [] : ['```json', JSON.stringify(body), '```', '']),
  ]
}

function tableLine(cells: readonly string[]): string {
  return `| ${cells.map((cell) => oneLine(cell).replaceAll('|', String.raw`\|`)).join(' | ')} |`
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ')
}
