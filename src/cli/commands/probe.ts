// `synapse probe`: whether a real service follows the rules of its wire, with the user's own key.

import { readStoredKeys } from '../../config/stored-keys.ts'
import { badInput } from '../../core/error.ts'
import { parseModelRef } from '../../providers/model-ref.ts'
import type { ProviderRow } from '../../providers/provider.ts'
import { planProbe, totalCost, type Cost, type ProbeStep } from '../../probe/plan.ts'
import { outcomeWords, redactRows, reportOf } from '../../probe/report.ts'
import { type ProbeRow, runProbe } from '../../probe/run.ts'
import type { Runtime } from '../../run/settings.ts'
import { type Command, exitCode, parse, version } from '../command.ts'
import { endpoints } from '../endpoints.ts'
import { dollars } from '../format-number.ts'
import { storeOptions } from '../local-store.ts'
import { print, printError, printJson, progressOn } from '../print.ts'
import { configOptions, rowsHere } from '../project-config.ts'
import { table } from '../table.ts'
import { neutral, styleFor, widthOf } from '../terminal.ts'

export const probe: Command = {
  usage: `synapse probe [PROVIDER[/MODEL]…] [--protocol WIRE] [--budget DOLLARS] [--report FILE] [--yes] [--json]
              [--offline] [--config FILE] [--db FILE]

Checks a real service with your own key: sends some 30 tiny requests per wire that Synapse expects to be accepted or
refused, and shows where the service behaves differently. It first shows the price and asks for confirmation; --yes
skips that. Without PROVIDER, it checks every provider whose key is in the environment. --budget limits the cost per
provider, $0.05 by default: a request that could exceed it is not sent. --report writes a file without keys, account
ids and names of your own, to attach to an issue. --offline asks the built-in emulator. Exit code 1: something
differs.`,

  async run(argv) {
    const { values, positionals } = parse(argv, Infinity, {
      ...configOptions,
      ...storeOptions,
      protocol: { type: 'string' },
      budget: { type: 'string', default: '0.05' },
      report: { type: 'string' },
      offline: { type: 'boolean' },
      yes: { type: 'boolean', short: 'y' },
      json: { type: 'boolean' },
    })
    const budget = Number(values.budget)
    if (values.budget.trim() === '' || !(budget >= 0)) {
      throw badInput(`--budget takes an amount in US dollars, such as 0.05, not "${values.budget}".`)
    }
    const offline = values.offline === true
    const rows = await rowsHere(values)
    const targets = targetsOf(positionals, rows, { offline, protocol: values.protocol })
    const planned = await plan(targets, await endpoints({ offline, rows }))
    if (!values.yes && !offline && !(await isAgreed(planned, budget))) return exitCode.failed

    const results = await runAll(planned, budget)
    if (values.json) printJson(redactRows(results), 2)
    else printRows(results)
    if (values.report !== undefined) {
      const { writeFileSync } = await import('node:fs')
      writeFileSync(values.report, reportOf(results, { version: version(), now: Date.now() }), { mode: 0o600 })
      printError(`Wrote the report to ${neutral(values.report)}. Review it before you attach it to an issue.\n`)
    }
    return results.every(({ outcome }) => outcome === 'as-expected') ? exitCode.ok : exitCode.failed
  },
}

interface Target {
  model: string
  wire: string
}

/** The named providers, or all with a key; each over all of its wires, or over the named one. */
function targetsOf(
  names: readonly string[],
  rows: readonly ProviderRow[],
  { offline, protocol }: { offline: boolean; protocol: string | undefined },
): Target[] {
  const stored = offline ? {} : readStoredKeys()
  const everybody = rows.filter(
    ({ id, keyVariables }) =>
      offline || Object.hasOwn(stored, id) || keyVariables.some((name) => process.env[name]?.trim()),
  )
  const providers = names.length > 0 ? names : everybody.map(({ id }) => id)
  if (providers.length === 0) {
    throw badInput(
      'Name a provider: no API key is stored or in the environment. "synapse providers" lists the variables.',
    )
  }
  return providers.flatMap((name) => {
    const { provider, model } = parseModelRef(name)
    const row = rows.find(({ id }) => id === provider)
    if (!row) throw badInput(`There is no provider "${provider}". "synapse providers" lists them.`)
    const named = model ?? row.defaultModel ?? (offline ? 'a-model' : undefined)
    if (named === undefined) throw badInput(`Name a model of ${row.id}: synapse probe ${row.id}/MODEL.`)
    const wires = row.wires.map((wire) => wire.protocol).filter((wire) => protocol === undefined || wire === protocol)
    if (wires.length === 0 && names.length > 0) {
      throw badInput(
        `${row.id} does not support "${protocol}". It supports ${row.wires.map((wire) => wire.protocol).join(' and ')}.`,
      )
    }
    return wires.map((wire) => ({ model: `${row.id}/${named}`, wire }))
  })
}

interface Planned {
  found: Awaited<ReturnType<Runtime['endpoint']>>
  steps: ProbeStep[]
}

async function plan(targets: readonly Target[], find: Runtime['endpoint']): Promise<Planned[]> {
  const planned: Planned[] = []
  for (const { model, wire } of targets) {
    const found = await find(model, wire)
    planned.push({ found, steps: await planProbe(found.endpoint) })
  }
  return planned
}

/** Shows the price and asks. If not interactive, nothing is sent. */
async function isAgreed(planned: readonly Planned[], budget: number): Promise<boolean> {
  const groups = Map.groupBy(planned, ({ found }) => found.endpoint.provider)
  for (const [{ name }, wires] of groups) {
    const steps = wires.flatMap((wire) => wire.steps)
    const models = [...new Set(wires.map(({ found }) => found.endpoint.model))].join(', ')
    printError(
      `${neutral(name)}, ${neutral(models)}: ${steps.length} requests, ${priceWords(totalCost(steps), budget)}\n`,
    )
  }
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    throw badInput('Nothing was sent: this is not an interactive terminal. --yes accepts the price above.')
  }
  const { yesOrNo } = await import('../yes-or-no.ts')
  return (await yesOrNo('Send them with your key? [y/N] ')) === true
}

function priceWords(cost: Cost | undefined, budget: number): string {
  if (!cost) return 'unknown price: the budget cannot be enforced'
  if (cost.most === 0) return 'nothing is billed'
  const maximum = dollars(Math.min(cost.most, budget))
  return `about ${dollars(Math.min(cost.likely, budget))}, at most ${maximum}`
}

/** One provider at a time; its wires share the budget. */
async function runAll(planned: readonly Planned[], budget: number): Promise<ProbeRow[]> {
  const progress = progressOn()
  const spent = new Map<string, number>()
  const rows: ProbeRow[] = []
  for (const { found, steps } of planned) {
    const { endpoint, transport } = found
    const { id } = endpoint.provider
    const onRow = ({ wire, check, cost = 0 }: ProbeRow): void => {
      spent.set(id, (spent.get(id) ?? 0) + cost)
      progress.tell(`${id} ${wire}: ${check}`)
    }
    rows.push(...(await runProbe({ endpoint, steps, transport, budget: budget - (spent.get(id) ?? 0), onRow })))
  }
  progress.done()
  return rows
}

function printRows(rows: readonly ProbeRow[]): void {
  const style = styleFor(process.stdout, process.env)
  const columns = [
    { head: 'provider' },
    { head: 'wire' },
    { head: 'check' },
    {
      head: 'result',
      paint: (text: string, row: number) =>
        rows[row]?.outcome === 'as-expected' ? style.green(text) : style.red(text),
    },
    { head: 'the requests', grows: true },
  ]
  const cells = rows.map((row) =>
    [row.provider, row.wire, row.check, outcomeWords[row.outcome], row.about].map(neutral),
  )
  print(`${table(columns, cells, widthOf(process.stdout), style).join('\n')}\n`)
  for (const { provider, wire, check, outcome, expected, observed } of rows) {
    if (outcome === 'as-expected') continue
    print(`\n${neutral(`${provider} ${wire} ${check}: ${outcomeWords[outcome]}`)}\n`)
    print(
      `  expected: ${neutral(expected)}\n  ${outcome === 'not-sent' ? 'because' : 'the service'}: ${neutral(observed)}\n`,
    )
  }
  const count = (outcome: ProbeRow['outcome']): number => rows.filter((row) => row.outcome === outcome).length
  const cost = rows.reduce((sum, row) => sum + (row.cost ?? 0), 0)
  const others = (['differs', 'unanswered', 'not-sent'] as const).flatMap((outcome) =>
    count(outcome) > 0 ? [`${count(outcome)} ${outcomeWords[outcome]}`] : [],
  )
  print(`\n${[`${count('as-expected')} as expected`, ...others, dollars(cost)].join(', ')}\n`)
}
