// The shape of a YAML file, checked: everything that is wrong at once, each with its place in the file.

import * as z from 'zod'
import { problemsWith } from '../settings/problems.ts'
import { secretsIn } from './secrets.ts'
import { problemsIn, type YamlFile } from './yaml-file.ts'

/** The value as the schema reads it; throws everything that is wrong, with file, line, column and key. */
export function checkShape<T extends z.ZodType>(file: YamlFile, shown: string, schema: T): z.output<T> {
  const value = file.value ?? {}
  const secrets = secretsIn(file.value).map(({ path, says }) => file.problem(path, says))
  const seen = new Set(secrets.map(({ key }) => key))
  const problems = problemsWith(schema, value).map(({ path, says }) => file.problem(path, says))
  const all = [...secrets, ...problems.filter(({ key }) => !seen.has(key))]
  if (all.length > 0) throw problemsIn(shown, all)
  return schema.parse(value)
}
