// A real llama.cpp server with a tiny model of random weights, which is stored next to the repository, not in it. It is
// an implementation of three wires that this project did not write. Its context is small, so that a long prompt is
// answered at once: `exceed_context_size_error` comes only after the body was read, checked and rendered.

import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { isObject, type Json, type JsonObject } from '../../src/core/json.ts'

const folder = join(import.meta.dirname, '..', '..', '..', 'shared', 'llama')
const program = join(folder, 'llama-server')

/** For the `skip` option of a test: false, or the reason. */
export const noLlama: string | false = existsSync(program) ? false : 'llama-server is not on this machine'

export interface LlamaServer {
  url: string
  post(path: string, body: JsonObject): Promise<{ status: number; body: Json }>
  /** Ends it as a crash would. */
  kill(): Promise<void>
  /** The same address again, after `kill`. */
  restart(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

export interface LlamaOptions {
  context?: number
  /** A file with a chat template, instead of the one in the model. */
  template?: string
}

export async function startLlama({ context = 2048, template }: LlamaOptions = {}): Promise<LlamaServer> {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  let child = await started(port, context, url, template)

  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGKILL')
    await ended
  }
  return {
    url,
    async post(path, body) {
      const headers = { 'content-type': 'application/json' }
      const response = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })
      return { status: response.status, body: (await response.json()) as Json }
    },
    kill,
    async restart() {
      child = await started(port, context, url, template)
    },
    [Symbol.asyncDispose]: kill,
  }
}

async function started(port: number, context: number, url: string, template?: string): Promise<ChildProcess> {
  const args = [
    '-m',
    join(folder, 'tiny.gguf'),
    '--jinja',
    // The model writes random letters: the same ones each time, without ever ending by itself.
    '--seed',
    '1',
    '--ignore-eos',
    '--host',
    '127.0.0.1',
    '--port',
    String(port),
    ...(template === undefined ? [] : ['--chat-template-file', template]),
  ]
  const child = spawn(program, [...args, '-c', String(context), '-np', '1', '-t', '1'], { stdio: 'ignore', env: {} })
  for (let tries = 0; child.exitCode === null && tries < 600; tries++) {
    if (await isReady(url)) return child
    await delay(50)
  }
  child.kill('SIGKILL')
  throw new Error('llama-server did not start.')
}

async function isReady(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/health`)).ok
  } catch {
    return false
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as AddressInfo
      probe.close(() => resolve(port))
    })
  })
}

/** Whether the server has read the body and would answer; what it said where it would not. */
export function refusalOf({ status, body }: { status: number; body: Json }): string | undefined {
  if (status === 200) return undefined
  const error = isObject(body) && isObject(body.error) ? body.error : {}
  return error.type === 'exceed_context_size_error' ? undefined : `${status} ${JSON.stringify(body)}`
}
