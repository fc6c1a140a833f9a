// The command in a real pseudo-terminal, as a person has it before them. Python's standard library can make one on
// every machine that has Python; `script` of util-linux can too, but cannot change its size.

import { spawn, spawnSync, type ChildProcessWithoutNullStreams } from 'node:child_process'
import type { TestContext } from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import { type Home } from './command-line.ts'
import { bin } from '../installed.ts'

export interface Terminal {
  /** Everything that was sent to the screen so far, control sequences and all. */
  readonly raw: string
  /** The same without them. */
  readonly text: string
  type(keys: string): void
  /** Waits until the text is on the screen, after what was awaited before. */
  see(words: RegExp): Promise<RegExpExecArray>
  resize(columns: number, rows: number): void
  /** The exit code. */
  ended: Promise<number | null>
}

export const keys = { interrupt: '\u0003', end: '\u0004', enter: '\r', tab: '\t', up: '\u001B[A' }

const python = ['python3', 'python'].find((name) => spawnSync(name, ['-c', 'import pty, termios']).status === 0)
const recorder = 'script'
const hasRecorder = /util-linux/.test(String(spawnSync(recorder, ['--version']).stdout))

/** Why there can be no terminal here; undefined: there can. */
export const noTerminal: string | undefined =
  python === undefined && !hasRecorder
    ? 'neither Python nor script (util-linux) is here to make a pseudo-terminal'
    : undefined

export const noResize: string | undefined =
  python === undefined ? 'only Python can change the size of a pseudo-terminal' : undefined

export function openTerminal(
  t: TestContext,
  home: Home,
  args: string[],
  { env = {}, columns = 80 }: { env?: Record<string, string>; columns?: number } = {},
): Terminal {
  const child = start(
    [process.execPath, bin, ...args],
    { ...home.env, TERM: 'xterm-256color', ...env },
    home.folder,
    columns,
  )
  t.after(() => void child.kill('SIGKILL'))
  let raw = ''
  let seen = 0
  let wake: (() => void) | undefined
  let over = false
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    raw += text
    wake?.()
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => (raw += text))
  child.stdin.on('error', () => {})
  const ended = new Promise<number | null>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => {
      over = true
      wake?.()
      resolve(code)
    })
  })
  return {
    get raw() {
      return raw
    },
    get text() {
      return plain(raw)
    },
    type: (typed) => void child.stdin.write(python ? `${JSON.stringify({ keys: typed })}\n` : typed),
    resize: (wide, high) => void child.stdin.write(`${JSON.stringify({ size: [wide, high] })}\n`),
    async see(words) {
      for (;;) {
        const text = plain(raw)
        const found = new RegExp(words.source, words.flags.replace('g', '')).exec(text.slice(seen))
        if (found) {
          seen += found.index + found[0].length
          return found
        }
        if (over) throw new Error(`The command ended before ${words} was seen. The screen:\n${text}`)
        await new Promise<void>((resolve, reject) => {
          const limit = setTimeout(
            () => reject(new Error(`${words} was not seen. The screen:\n${plain(raw)}`)),
            120_000,
          )
          wake = () => {
            clearTimeout(limit)
            resolve()
          }
        })
      }
    },
    ended,
  }
}

/** Without colours, movements of the cursor and the like: what is left is what was written. */
export function plain(raw: string): string {
  return stripVTControlCharacters(raw).replaceAll('\r', '')
}

function start(
  command: string[],
  env: Record<string, string>,
  cwd: string,
  columns: number,
): ChildProcessWithoutNullStreams {
  if (python) return spawn(python, ['-c', keeper, String(columns), ...command], { env, cwd })
  const quoted = command.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ')
  return spawn(recorder, ['-qefc', `stty cols ${columns}; ${quoted}`, '/dev/null'], { env, cwd })
}

/** Keys and sizes come in as lines of JSON; the screen is printed unchanged; the exit code is the command's. */
const keeper = `
import fcntl, json, os, pty, select, struct, sys, termios
def size(columns, rows):
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))
process, terminal = pty.fork()
if process == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack('HHHH', 24, int(sys.argv[1]), 0, 0))
    os.execv(sys.argv[2], sys.argv[2:])
pending, watched = b'', [0, terminal]
while True:
    ready, _, _ = select.select(watched, [], [])
    if terminal in ready:
        try:
            shown = os.read(terminal, 65536)
        except OSError:
            shown = b''
        if not shown:
            break
        os.write(1, shown)
    if 0 in ready:
        typed = os.read(0, 65536)
        if not typed:
            watched = [terminal]
        *lines, pending = (pending + typed).split(b'\\n')
        for line in lines:
            order = json.loads(line)
            if 'keys' in order:
                os.write(terminal, order['keys'].encode())
            else:
                size(*order['size'])
_, status = os.waitpid(process, 0)
sys.exit(os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status))
`
