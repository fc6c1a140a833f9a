// Validates a YAML file: all problems at once, each with its position in the file.

import type * as z from 'zod'
import { isObject } from '../core/json.ts'
import { type Path, problemsIn, type YamlFile } from './yaml-file.ts'
import { zodProblems } from './zod-problems.ts'

/** The parsed value; throws all problems, with file, line, column and key. */
export function checkShape<T extends z.ZodType>(file: YamlFile, shown: string, schema: T): z.output<T> {
  const value = file.value ?? {}
  const secrets = secretsIn(file.value).map(({ path, says }) => file.problem(path, says))
  const seen = new Set(secrets.map(({ key }) => key))
  const problems = zodProblems(schema, value).map(({ path, says }) => file.problem(path, says))
  const all = [...secrets, ...problems.filter(({ key }) => !seen.has(key))]
  if (all.length > 0) throw problemsIn(shown, all)
  return schema.parse(value)
}

// Keys belong in the environment, never in a file: files are committed, copied and shared. Whatever looks like a key is
// refused before anything else is done with it, and is not repeated in the message.

/** The prefixes of keys of known services (checked 2026-11). */
const shapes =
  /\b(sk-[A-Za-z0-9_-]{16,}|sk_(live|test)_\w{10,}|AIza[\w-]{30,}|gsk_\w{20,}|xai-[\w-]{20,}|csk-\w{20,}|fw_\w{16,}|tgp_\w{20,}|hf_\w{20,}|gh[pousr]_\w{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|xox[abps]-[\w-]{10,}|AKIA[A-Z0-9]{16}|eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{5,}|syn_\w{20,})/

const secretNames =
  /^(x-)?(api[-_]?keys?|key|secret|token|password|access[-_]?token|auth[-_]?token|authorization|credentials?)$/i

interface Secret {
  path: Path
  says: string
}

function secretsIn(value: unknown): Secret[] {
  const secrets: Secret[] = []
  visit(value, [])
  return secrets

  function visit(node: unknown, path: Path): void {
    if (typeof node === 'string') {
      if (isSecret(node, path)) secrets.push({ path, says: sentence(value, path) })
    } else if (Array.isArray(node)) {
      for (const [index, item] of node.entries()) visit(item, [...path, index])
    } else if (isObject(node)) {
      for (const [key, item] of Object.entries(node)) visit(item, [...path, key])
    }
  }
}

function isSecret(text: string, path: Path): boolean {
  if (shapes.test(text)) return true
  const name = String(path.at(-1) ?? '')
  const named = secretNames.test(name) || (path.at(-2) === 'env' && /(_|^)(KEY|TOKEN|SECRET|PASSWORD)$/i.test(name))
  if (!named || /\$\{\w+(:-)?\}/.test(text)) return false
  return path.includes('env') || path.includes('headers') || path[0] === 'providers'
}

/** Names the variable that should contain it. */
function sentence(root: unknown, path: Path): string {
  if (path[0] === 'providers') {
    const providers = isObject(root) ? root['providers'] : undefined
    const entry: unknown = Array.isArray(providers) ? providers[Number(path[1])] : undefined
    const named = isObject(entry) ? entry['keyVariable'] : undefined
    const id = isObject(entry) && typeof entry['id'] === 'string' ? entry['id'] : 'provider'
    const variable =
      typeof named === 'string' && /^\w{1,64}$/.test(named) && !shapes.test(named) ? named : variableFor(id)
    return `looks like a key, and keys do not belong in a file; put it into the environment variable ${variable} and write keyVariable: ${variable}`
  }
  const variable = path.at(-2) === 'env' ? String(path.at(-1)) : variableFor(String(path[1] ?? 'my'))
  return `looks like a key, and keys do not belong in a file; put it into the environment variable ${variable} and write \${${variable}} here`
}

function variableFor(id: string): string {
  return `${id.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_')}_API_KEY`
}
