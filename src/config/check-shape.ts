// The shape of a YAML file, checked: everything that is wrong at once, each with its place in the file.

import type * as z from 'zod'
import { secretsIn } from './secrets.ts'
import { problemsIn, type YamlFile } from './yaml-file.ts'
import { zodProblems } from './zod-problems.ts'

/** The value as the schema reads it; throws everything that is wrong, with file, line, column and key. */
export function checkShape<T extends z.ZodType>(file: YamlFile, shown: string, schema: T): z.output<T> {
  const value = file.value ?? {}
  const secrets = secretsIn(file.value).map(({ path, says }) => file.problem(path, says))
  const seen = new Set(secrets.map(({ key }) => key))
  const problems = zodProblems(schema, value).map(({ path, says }) => file.problem(path, says))
  const all = [...secrets, ...problems.filter(({ key }) => !seen.has(key))]
  if (all.length > 0) throw problemsIn(shown, all)
  return schema.parse(value)
}
