// Running a shell command in one folder. A person sees the whole command first. It gets none of our keys: only PATH,
// HOME and the like.

import { spawn } from 'node:child_process'
import type { Tool } from '../../core/tool.ts'
import { textField, wholeField } from './input.ts'

const mostBytes = 100 * 1024
const usualSeconds = 60
const mostSeconds = 600

export function commandTool(folder: string): Tool {
  return {
    name: 'run_command',
    description: 'Runs a shell command in the folder and returns its output and exit code.',
    input: {
      type: 'object',
      properties: {
        command: { type: 'string', minLength: 1 },
        seconds: {
          type: 'integer',
          minimum: 1,
          maximum: mostSeconds,
          description: `The time limit in seconds. Default: ${usualSeconds}.`,
        },
      },
      required: ['command'],
      additionalProperties: false,
    },
    ask: true,
    timeoutMs: (mostSeconds + 5) * 1000,
    run(input, { signal }) {
      const seconds = Math.min(wholeField(input, 'seconds') ?? usualSeconds, mostSeconds)
      return runCommand(textField(input, 'command'), folder, { seconds, signal })
    },
  }
}

const passed = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR', 'USER', 'SHELL', 'SystemRoot', 'COMSPEC']

async function runCommand(
  command: string,
  folder: string,
  { seconds, signal }: { seconds: number; signal: AbortSignal },
): Promise<string> {
  const env = Object.fromEntries(passed.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])))
  // A separate process group, so that child processes end with the command.
  const child = spawn(command, { shell: true, cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
  let output = ''
  let cut = 0
  const keep = (text: string): void => {
    const room = mostBytes - output.length
    output += text.slice(0, Math.max(0, room))
    cut += Math.max(0, text.length - Math.max(0, room))
  }
  // By the stream: a character may be split across two chunks.
  child.stdout.setEncoding('utf8').on('data', keep)
  child.stderr.setEncoding('utf8').on('data', keep)
  let why = ''
  const end = (reason: string): void => {
    why ||= reason
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    } catch {
      // It had already ended.
    }
  }
  const timer = setTimeout(() => end(`it was ended after ${seconds} s`), seconds * 1000)
  const stop = (): void => end('it was stopped')
  signal.addEventListener('abort', stop, { once: true })
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject)
      child.once('close', resolve)
    })
    const rest = cut > 0 ? `\n[${cut} more characters]` : ''
    return `${output}${rest}\n[${why || `exit code ${code}`}]`.trimStart()
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', stop)
  }
}
