// `synapse emulate`: every provider's API on this machine, for tests.

import { badInput } from '../../core/error.ts'
import { type Command, exitCode, parse } from '../command.ts'
import { print } from '../print.ts'

export const emulate: Command = {
  usage: `synapse emulate [--port N]

Emulates the APIs of all providers on loopback, each under its name: http://127.0.0.1:PORT/anthropic/v1/messages,
/openai/v1/chat/completions, /mistral/v1/chat/completions, … It refuses what the real services refuse, with their
error messages, and its answers are derived from the request: it is not a model. Without --port a free port is used.
Ctrl-C stops it.`,

  async run(argv) {
    const { values } = parse(argv, 0, { port: { type: 'string', default: '0' } })
    const port = Number(values.port)
    if (!Number.isInteger(port) || port < 0 || port > 65_535) {
      throw badInput(`--port takes a number from 0 to 65535, not "${values.port}".`)
    }
    const { serveEmulator } = await import('../../emulator/serve.ts')
    const served = await serveEmulator({ port })
    print(`${served.url}\n`)
    await new Promise<void>((resolve) => {
      process.once('SIGINT', resolve)
      process.once('SIGTERM', resolve)
    })
    await served.close()
    return exitCode.ok
  },
}
