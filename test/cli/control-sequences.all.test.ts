// Every command that prints a hostile log, on a real pseudo-terminal.

import test from 'node:test'
import { newHome } from './command-line.ts'
import { assertNothingObeyed, hostileHome, printingCommands, wordsOf } from './printing.ts'
import { noTerminal, openTerminal } from './pseudo-terminal.ts'

for (const name of printingCommands) {
  test(
    `on a pseudo-terminal, ${name} sends nothing that a terminal obeys`,
    { skip: noTerminal, timeout: 60_000 },
    async (t) => {
      const home = newHome(t)
      await hostileHome(home)
      const screen = openTerminal(t, home, wordsOf(name), { env: { NO_COLOR: '1' } })
      const ended = await screen.ended
      assertNothingObeyed(name, screen.raw, ended)
    },
  )
}
