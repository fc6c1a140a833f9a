// Writes a new session where its agent looks for it. It is written next to its final path, read back and compared, and
// only then renamed; nothing existing is ever replaced, and a file that differs is removed.

import { spawnSync } from 'node:child_process'
import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { badInput, SynapseError } from '../core/error.ts'
import type { NewSession, SessionFormat } from '../transcripts/session.ts'
import type { Agent } from './agents.ts'
import { type Carried, carriedText, type CarryOptions, difference, digestsOf, newSession } from './carry.ts'
import { isInside } from './files.ts'
import { registerGeminiProject } from './gemini-projects.ts'
import { opencodeHas } from './opencode-db.ts'
import { fileSource, opencodeSource, type Progress, type SessionSource } from './source.ts'
import type { AgentEnvironment } from './environment.ts'

export interface PutOptions extends CarryOptions {
  dryRun?: boolean
}

export interface Put extends Carried {
  /** The file; for opencode its database. */
  path: string
}

/** Everything needed to write a session. */
interface Job {
  source: SessionSource
  agent: Agent
  format: SessionFormat
  session: NewSession
  at: AgentEnvironment
  progress: Progress | undefined
}

export async function putSession(
  source: SessionSource,
  agent: Agent,
  format: SessionFormat,
  at: AgentEnvironment,
  options: PutOptions,
): Promise<Put> {
  const session = freeSession(source, agent, format, at, options)
  const { progress } = options
  if (options.dryRun) {
    const written = writeAll(carriedText(source, format, session, progress), () => {})
    return { ...written, path: placeOf(agent, session, at) }
  }
  const job = { source, agent, format, session, at, progress }
  return agent.pathFor ? putFile(job) : putOpencode(job)
}

function placeOf(agent: Agent, session: NewSession, at: AgentEnvironment): string {
  const below = agent.pathFor ? agent.pathFor(session, at) : 'opencode.db'
  return join(agent.folder(at), below)
}

/** The first unused id. */
function freeSession(
  source: SessionSource,
  agent: Agent,
  format: SessionFormat,
  at: AgentEnvironment,
  options: CarryOptions,
): NewSession {
  for (let attempt = 0; attempt < 1000; attempt++) {
    const session = newSession(source, format, { ...options, attempt })
    const path = placeOf(agent, session, at)
    if (agent.pathFor ? !existsSync(path) : !isInDatabase(path, session.id)) return session
  }
  throw badInput(`This session was carried to ${agent.name} a thousand times already.`)
}

function isInDatabase(file: string, id: string): boolean {
  return existsSync(file) && opencodeHas(file, id)
}

function writeAll(text: Generator<string, Carried>, take: (piece: string) => void): Carried {
  for (;;) {
    const next = text.next()
    if (next.done) return next.value
    take(next.value)
  }
}

async function putFile({ source, agent, format, session, at, progress }: Job): Promise<Put> {
  const folder = agent.folder(at)
  const path = placeOf(agent, session, at)
  if (agent.id === 'gemini-cli') registerGeminiProject(session.cwd, at)
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  if (!isInside(dirname(path), folder)) throw badInput(`${dirname(path)} points outside ${folder} through a link.`)
  const draft = `${path}.${process.pid}.part`
  try {
    const carried = writeDraft(draft, carriedText(source, format, session, half(progress, 0)))
    await compare(carried, await fileSource(draft, format), format, half(progress, 0.5))
    nameWithoutReplacing(draft, path)
    return { ...carried, path }
  } finally {
    rmSync(draft, { force: true })
  }
}

/** A link, unlike a rename, never replaces anything. Some file systems have no links. */
function nameWithoutReplacing(draft: string, path: string): void {
  try {
    linkSync(draft, path)
  } catch {
    if (existsSync(path)) throw badInput(`${path} already exists.`)
    copyFileSync(draft, path, constants.COPYFILE_EXCL)
  }
}

function half(progress: Progress | undefined, from: number): Progress | undefined {
  return progress && ((share) => progress(from + share / 2))
}

/** Readable by its owner only. */
function writeDraft(path: string, text: Generator<string, Carried>): Carried {
  const fd = openSync(path, 'wx', 0o600)
  try {
    let pieces: string[] = []
    let length = 0
    const flush = (): void => {
      writeSync(fd, pieces.join(''))
      pieces = []
      length = 0
    }
    const carried = writeAll(text, (piece) => {
      pieces.push(piece)
      length += piece.length
      if (length > 1024 * 1024) flush()
    })
    flush()
    return carried
  } finally {
    closeSync(fd)
  }
}

async function compare(
  carried: Carried,
  written: SessionSource,
  format: SessionFormat,
  progress?: Progress,
): Promise<void> {
  const changed = difference(carried.digests, digestsOf(written, progress).digests)
  if (changed === undefined) return
  throw new SynapseError({
    kind: 'internal',
    message: `What was written for ${format.id} was read back with a difference (${changed}), so it was removed again.`,
  })
}

/** opencode accepts sessions only through its own import. What it stored is read back from its database. */
async function putOpencode({ source, agent, format, session, at, progress }: Job): Promise<Put> {
  const folder = mkdtempSync(join(tmpdir(), 'synapse-carry-'))
  try {
    const file = join(folder, 'session.json')
    const carried = writeDraft(file, carriedText(source, format, session, half(progress, 0)))
    const run = (args: string[]) =>
      spawnSync(agent.program, args, { cwd: session.cwd, env: at.env, encoding: 'utf8', timeout: 600_000 })
    const { status, error, stderr } = run(['import', file])
    if (error) throw badInput(`opencode cannot be started (${error.message}). It is needed to import the session.`)
    const path = placeOf(agent, session, at)
    try {
      if (status !== 0)
        throw badInput(`"opencode import" ended with ${status}: ${stderr.trim().split('\n').at(-1) ?? ''}.`)
      await compare(carried, opencodeSource(path, session.id), format, half(progress, 0.5))
    } catch (failure) {
      // An import that fails halfway leaves its first part.
      if (isInDatabase(path, session.id)) run(['session', 'delete', session.id])
      throw failure
    }
    return { ...carried, path }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
