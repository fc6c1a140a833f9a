// Gemini CLI stores the sessions of a folder under a name from its projects.json.

import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { badInput } from '../core/error.ts'
import { isObject, type Json, type JsonObject } from '../core/json.ts'
import type { AgentEnvironment } from './environment.ts'

export function geminiHome({ home, env }: AgentEnvironment): string {
  return join(env['GEMINI_CLI_HOME'] || home, '.gemini')
}

/** The name of a folder; a new one if it has none yet. */
export function geminiProject(cwd: string, at: AgentEnvironment): { name: string; isNew: boolean } {
  const projects = projectsIn(at)
  const folderName = Object.hasOwn(projects, cwd) ? projects[cwd] : undefined
  if (typeof folderName === 'string' && /^\w[\w.-]*$/.test(folderName)) return { name: folderName, isNew: false }
  const used = new Set(Object.values(projects))
  const plain =
    basename(cwd)
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '-')
      .replaceAll(/^-+|-+$/g, '') || 'project'
  let name = plain
  for (let n = 1; used.has(name) || isOther(name, cwd, at); n++) name = `${plain}-${n}`
  return { name, isNew: true }
}

function isOther(name: string, cwd: string, at: AgentEnvironment): boolean {
  const folder = join(geminiHome(at), 'tmp', name)
  return existsSync(folder) && geminiRoot(folder) !== cwd
}

/** The working directory of the sessions in a folder below `tmp`. */
export function geminiRoot(folder: string): string | undefined {
  try {
    return readFileSync(join(folder, '.project_root'), 'utf8').trim() || undefined
  } catch {
    return undefined
  }
}

function projectsIn(at: AgentEnvironment): JsonObject {
  const json = readProjects(at)
  return isObject(json['projects']) ? json['projects'] : {}
}

function readProjects(at: AgentEnvironment): JsonObject {
  const file = join(geminiHome(at), 'projects.json')
  if (!existsSync(file)) return {}
  try {
    const json = JSON.parse(readFileSync(file, 'utf8')) as Json
    if (isObject(json)) return json
  } catch {
    // Reported below, as other JSON is.
  }
  throw badInput(`${file} is not readable JSON. Gemini CLI needs it to find its sessions.`)
}

/** Adds a folder that Gemini CLI does not know yet; an existing entry is not changed. */
export function registerGeminiProject(cwd: string, at: AgentEnvironment): void {
  const { name, isNew } = geminiProject(cwd, at)
  if (!isNew) return
  const home = geminiHome(at)
  for (const part of ['tmp', 'history']) {
    const root = join(home, part, name, '.project_root')
    mkdirSync(dirname(root), { recursive: true, mode: 0o700 })
    if (!existsSync(root)) writeFileSync(root, cwd, { mode: 0o600, flag: 'wx' })
  }
  const file = join(home, 'projects.json')
  const json = { ...readProjects(at), projects: { ...projectsIn(at), [cwd]: name } }
  const draft = `${file}.${process.pid}.part`
  writeFileSync(draft, `${JSON.stringify(json, null, 2)}\n`, { mode: 0o600, flag: 'wx' })
  renameSync(draft, file)
}
