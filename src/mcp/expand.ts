// `${NAME}`, or `${NAME:-default}`, in the settings of an MCP server, filled in from the environment, so that secrets
// stay out of the file.

import { badInput } from '../core/error.ts'

type Env = Readonly<Record<string, string | undefined>>

const placeholder = /\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}/g

export function expand(text: string, env: Env): string {
  return text.replaceAll(placeholder, (_, name: string, otherwise: string | undefined) => {
    // npm sets these from the .npmrc of the current folder.
    const value = (/^npm_/i.test(name) ? undefined : env[name]) || otherwise
    if (value === undefined) throw badInput(`the environment variable ${name} is not set`)
    return value
  })
}

export function expandAll(values: Readonly<Record<string, string>> = {}, env: Env): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, text]) => [name, expand(text, env)]))
}

/** The unset variables that a text needs. */
export function missingIn(text: string, env: Env): string[] {
  return [...text.matchAll(placeholder)].flatMap(([, name = '', otherwise]) =>
    env[name] || otherwise !== undefined ? [] : [name],
  )
}
