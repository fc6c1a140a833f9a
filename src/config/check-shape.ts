// Validates a YAML file: all problems at once, each with its position in the file.

import type * as z from 'zod'
import { secretsIn } from './secrets.ts'
import { problemsIn, type YamlFile } from './yaml-file.ts'
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
