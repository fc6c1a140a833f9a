// The program as it is shipped: `synapse serve` in a separate process, without keys, in an empty home.

import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { buildWeb } from '../../scripts/build-web.ts'
import { bin } from '../installed.ts'
import { compileCache } from '../compile-cache.ts'

export interface Stock {
  url: string
  /** Its home, and the folder that it was started in. */
  home: string
  /** Ends it as a crash would. */
  kill(): Promise<void>
  /** Starts it again at the same address, with the same conversations. */
  restart(): Promise<void>
  close(): Promise<void>
}

export async function openStock(env: Record<string, string> = {}): Promise<Stock> {
  await buildWeb()
  const home = mkdtempSync(join(tmpdir(), 'synapse-stock-'))
  let child: ChildProcess
  const begin = async (port: string): Promise<string> => {
    const started = spawn(process.execPath, [bin, 'serve', '--port', port, '--no-open'], {
      cwd: home,
      env: {
        PATH: process.env['PATH'] ?? '',
        NODE_COMPILE_CACHE: compileCache,
        HOME: home,
        XDG_DATA_HOME: home,
        ...env,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    child = started
    for await (const line of createInterface(started.stdout)) return line.trim()
    throw new Error('The server printed no address.')
  }
  const url = await begin('0')
  const stock: Stock = {
    url,
    home,
    async kill() {
      if (child.exitCode !== null || child.signalCode !== null) return
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
    },
    async restart() {
      await begin(new URL(url).port)
    },
    async close() {
      await stock.kill()
      rmSync(home, { recursive: true, force: true })
    },
  }
  return stock
}
