// A terminal that runs and shows the real command, and records it as a picture. For the demos of the documentation: a
// separate home, only the given environment, and an emulator on loopback in place of the services.

import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { styleText } from 'node:util'
import { serveEmulator, type ServedEmulator } from '../src/testing.ts'
import { terminalPicture, type Shown } from './terminal-picture.ts'

const bin = fileURLToPath(new URL('../bin/synapse.js', import.meta.url))
const images = fileURLToPath(new URL('../docs/images/', import.meta.url))

export interface Recorder {
  readonly home: string
  readonly emulator: ServedEmulator
  remark(text: string): void
  /** Runs a command to its end and returns its output; another exit code than 0 is an error. */
  synapse(...args: string[]): Promise<string>
  /** The same, hidden. */
  prepare(...args: string[]): Promise<string>
  /** Runs a command and kills it as soon as it has printed this. */
  killed(when: string, ...args: string[]): Promise<void>
}

/** Plays a scene; with `--record` on the command line it becomes the picture of this name. */
export async function play(name: string, scene: (recorder: Recorder) => Promise<void>): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), 'synapse-demo-'))
  const emulator = await serveEmulator()
  const shown: Shown[] = []
  const show = (text: string): void => {
    const shownText = text.replaceAll(home, '~')
    shown.push({ at: performance.now(), text: shownText })
    process.stdout.write(shownText)
  }
  try {
    await scene(recorder(home, emulator, show))
  } finally {
    await emulator.close()
    rmSync(home, { recursive: true, force: true })
  }
  if (process.argv.includes('--record')) {
    writeFileSync(join(images, `${name}.svg`), terminalPicture(shown, { columns: 100, rows: 26 }))
  }
}

function recorder(home: string, emulator: ServedEmulator, show: (text: string) => void): Recorder {
  const env = {
    PATH: process.env['PATH'],
    HOME: home,
    ANTHROPIC_API_KEY: 'demo',
    ANTHROPIC_BASE_URL: `${emulator.url}/anthropic`,
    OPENAI_API_KEY: 'demo',
    OPENAI_BASE_URL: `${emulator.url}/openai/v1`,
  }

  async function run(args: string[], onText: (text: string, child: ChildProcess, printed: string) => void) {
    const child = spawn(process.execPath, [bin, ...args], { env, cwd: home, stdio: ['ignore', 'pipe', 'pipe'] })
    let printed = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        printed += text
        onText(text, child, printed)
      })
    }
    const code = await new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve))
    return { code, printed }
  }

  async function succeeds(args: string[], onText: (text: string) => void): Promise<string> {
    const { code, printed } = await run(args, onText)
    if (code !== 0) throw new Error(`synapse ${args.join(' ')} ended with ${code}: ${printed}`)
    return printed
  }

  function showTyped(args: string[]): void {
    const typed = args.map((arg) => (/^[\w./-]+$/.test(arg) ? arg : `"${arg}"`)).join(' ')
    show(`${paint('green', '$')} ${paint('bold', `synapse ${typed}`)}\n`)
  }

  return {
    home,
    emulator,
    remark: (text) => show(`\n${paint('dim', `# ${text}`)}\n`),
    async synapse(...args) {
      showTyped(args)
      return succeeds(args, show)
    },
    prepare: (...args) => succeeds(args, () => {}),
    async killed(when, ...args) {
      showTyped(args)
      await run(args, (text, child, printed) => {
        show(text)
        if (printed.includes(when)) child.kill('SIGKILL')
      })
      show(`\n${paint('red', 'Killed')}\n`)
    },
  }
}

function paint(style: 'green' | 'bold' | 'dim' | 'red', text: string): string {
  return styleText(style, text, { validateStream: false })
}
