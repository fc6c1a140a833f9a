// Every chat template with a real server: the generated table is what the probes find, and everything that a history
// says is in the prompt.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import test from 'node:test'
import { digestOf, formFor, sketchOf, templateData } from '../../src/providers/templates.ts'
import { cheapestForm } from '../../scripts/templates.ts'
import { startLlama } from './server.ts'
import { faultOf, noTemplates, probes, templateFiles, templateName } from './templates.ts'

for (const file of templateFiles) {
  const name = templateName(file)
  test(`the table says how ${name} shows everything`, { skip: noTemplates }, async () => {
    const text = readFileSync(file, 'utf8')
    await using server = await startLlama({ template: file })
    const known = { digest: digestOf(text), sketch: sketchOf(text), form: await cheapestForm(server) }
    assert.deepEqual(templateData.templates[name], known)
    for (const probe of Object.keys(probes)) {
      for (const withTools of [true, false]) {
        assert.equal(await faultOf(server, probe, formFor(text).form, withTools), undefined, probe)
      }
    }
  })
}
