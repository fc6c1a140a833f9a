// `synapse providers`: who can be asked, whether the key is there, and what each of them can do for us.

import { rows as builtIn } from '../../providers/rows.ts'
import { exitCode, parse, type Command } from '../command.ts'
import { configOptions, configured } from '../configured.ts'
import { styleFor } from '../terminal.ts'

export const providers: Command = {
  usage: `synapse providers [--json] [--config FILE]

Lists every provider with its wires, whether a key for it is in the environment, how it keeps state for us, how it
caches prompts, and whether it can compact a conversation itself.`,

  async run(argv) {
    const { values } = parse(argv, { ...configOptions, json: { type: 'boolean' } })
    const rows = (await configured(values))?.rows ?? builtIn
    const table = rows.flatMap((row) =>
      row.wires.map((wire, index) => ({
        provider: row.id,
        wire: wire.protocol,
        default: index === 0,
        key: keyOf(row.keyVariables, row.keyOptional === true),
        state: wire.state?.kind ?? 'stateless',
        caching: wire.caching,
        compaction: wire.compaction ?? 'summary',
        model: row.defaultModel ?? '',
      })),
    )
    if (values.json) {
      process.stdout.write(`${JSON.stringify(table, null, 2)}\n`)
      return exitCode.ok
    }
    const style = styleFor(process.stdout, process.env)
    const heads = ['provider', 'wire', 'key', 'state', 'caching', 'compaction', 'default model'] as const
    const cells = table.map((line) => [
      line.default ? line.provider : '',
      line.wire,
      line.default ? line.key : '',
      line.state,
      line.caching,
      line.compaction,
      line.default ? line.model : '',
    ])
    const widths = heads.map((head, i) => Math.max(head.length, ...cells.map((cell) => cell[i]?.length ?? 0)))
    const write = (cell: readonly string[]) =>
      cell
        .map((text, i) => text.padEnd(widths[i] ?? 0))
        .join('  ')
        .trimEnd()
    process.stdout.write(`${[style.bold(write(heads)), ...cells.map(write)].join('\n')}\n`)
    return exitCode.ok
  },
}

function keyOf(variables: readonly string[], optional: boolean): string {
  const found = variables.find((name) => process.env[name]?.trim())
  if (found) return `found: ${found}`
  return optional ? 'not needed' : `missing: ${variables[0] ?? ''}`
}
