// Writes the help texts into docs/command-line.md, between their markers.
// Run it after a change to a command: node scripts/command-line.ts

import { readFileSync, writeFileSync } from 'node:fs'
import { commands, help } from '../src/cli/main.ts'

export const page: URL = new URL('../docs/command-line.md', import.meta.url)

/** The page with the help texts as the commands print them. */
export async function withHelp(text: string): Promise<string> {
  const loaded = await Promise.all(
    Object.entries(commands).map(async ([name, { load }]) => `### ${name}\n\n${block((await load()).usage)}`),
  )
  const texts: Record<string, string> = { synapse: block(help), commands: loaded.join('\n\n') }
  return text.replaceAll(
    /(<!-- help: (\w+) -->\n)[^]*?(<!-- \/help -->)/g,
    (_, start: string, name: string, end: string) => `${start}\n${texts[name] ?? ''}\n\n${end}`,
  )
}

function block(text: string): string {
  return `\`\`\`text\n${text.trim()}\n\`\`\``
}

if (import.meta.main) writeFileSync(page, await withHelp(readFileSync(page, 'utf8')))
