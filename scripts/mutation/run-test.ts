// One test file in a separate process, killed when it takes too long.

import { spawn } from 'node:child_process'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..', '..')

export async function runTest(
  test: string,
  { env = {}, timeoutMs }: { env?: Record<string, string>; timeoutMs: number },
): Promise<{ passed: boolean; ms: number }> {
  const began = performance.now()
  const child = spawn(process.execPath, [`--test-timeout=${timeoutMs}`, test], {
    cwd: root,
    stdio: 'ignore',
    env: { ...process.env, ...env },
    // A separate process group, so that child processes end with the test.
    detached: true,
  })
  const end = () => {
    try {
      process.kill(-(child.pid ?? 0), 'SIGKILL')
    } catch {
      // all gone
    }
  }
  const timer = setTimeout(end, timeoutMs)
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve))
  clearTimeout(timer)
  end()
  return { passed: code === 0, ms: performance.now() - began }
}
