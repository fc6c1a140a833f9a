// Writes src/providers/templates.json: for each chat template the cheapest form of a history that a real llama.cpp
// server renders completely. The templates are next to the recordings of the tests (test/llama/templates.ts). Takes some
// minutes: node scripts/templates.ts

import { readFileSync, writeFileSync } from 'node:fs'
import { digestOf, sketchOf, type KnownTemplate, type TemplateForm } from '../src/providers/templates.ts'
import { startLlama, type LlamaServer } from '../test/llama/server.ts'
import { faultOf, probes, templateFiles, templateName } from '../test/llama/templates.ts'

const templatesFile = new URL('../src/providers/templates.json', import.meta.url)

/** How much clarity each difference costs the model: the cheapest form that renders everything is used. */
const costs: Record<keyof TemplateForm, number> = {
  shortCallIds: 1,
  flatArguments: 2,
  bridgeAfterTool: 3,
  separateCalls: 4,
  oneCallPerTurn: 5,
  noSystem: 20,
  toolMessages: 100,
}

const flags = Object.keys(costs) as (keyof TemplateForm)[]

const forms: TemplateForm[] = Array.from({ length: 2 ** flags.length }, (_, bits) =>
  Object.fromEntries(
    flags.filter((__, i) => bits & (1 << i)).map((flag) => [flag, flag === 'toolMessages' ? 'text' : true]),
  ),
).toSorted((a, b) => costOf(a) - costOf(b))

function costOf(form: TemplateForm): number {
  return flags.reduce((sum, flag) => sum + (form[flag] ? costs[flag] : 0), 0)
}

/** The cheapest form in which the template renders every probe. */
export async function cheapestForm(server: LlamaServer): Promise<TemplateForm> {
  for (const form of forms) if (!(await firstFault(server, form))) return form
  throw new Error('no form shows every probe')
}

async function firstFault(server: LlamaServer, form: TemplateForm): Promise<string | undefined> {
  for (const probe of Object.keys(probes)) {
    for (const withTools of [true, false]) {
      const fault = await faultOf(server, probe, form, withTools)
      if (fault !== undefined) return fault
    }
  }
  return undefined
}

/** Forms with tool calls for an unknown template. */
const careful: TemplateForm[] = [{ separateCalls: true, oneCallPerTurn: true }, { separateCalls: true }, {}]

if (import.meta.main) {
  const templates: Record<string, KnownTemplate> = {}
  const shown = careful.map(() => 0)
  for (const file of templateFiles) {
    const text = readFileSync(file, 'utf8')
    await using server = await startLlama({ template: file })
    const form = await cheapestForm(server)
    templates[templateName(file)] = { digest: digestOf(text), sketch: sketchOf(text), form }
    for (const [i, one] of careful.entries()) {
      if ((await firstFault(server, one)) === undefined) shown[i] = (shown[i] ?? 0) + 1
    }
    process.stdout.write(`${templateName(file)} ${JSON.stringify(form)}\n`)
  }
  const best = careful[shown.indexOf(Math.max(...shown))] ?? {}
  process.stdout.write(`unknown ones: ${JSON.stringify(best)}, of ${shown.join(', ')} complete\n`)
  const lines = Object.entries(templates).map(([name, one]) => `    ${JSON.stringify(name)}: ${JSON.stringify(one)}`)
  const json = `{\n  "careful": ${JSON.stringify(best)},\n  "templates": {\n${lines.join(',\n')}\n  }\n}\n`
  writeFileSync(templatesFile, json)
}
