// A rule of a setting as a zod schema, for files and requests. The rule itself decides, so that its error messages and
// its JSON Schema are the same everywhere.

import * as z from 'zod'
import { problemsWith } from '../settings/problems.ts'
import { jsonSchemaOf, type Rule } from '../settings/rule.ts'

export function zodOf<T>(rule: Rule<T>): z.ZodType<T> {
  return z
    .unknown()
    .superRefine((value, context) => {
      for (const { path, says } of problemsWith(rule, value)) {
        context.addIssue({ code: 'custom', path: [...path], message: says })
      }
    })
    .meta(jsonSchemaOf(rule)) as unknown as z.ZodType<T>
}

/** One optional zod field for each rule. */
export function zodFields<F extends Readonly<Record<string, Rule>>>(
  fields: F,
): { [K in keyof F]: z.ZodExactOptional<z.ZodType<NonNullable<F[K]['fits']>>> } {
  const made = Object.entries(fields).map(([key, rule]) => [key, z.exactOptional(zodOf(rule))])
  return Object.fromEntries(made) as { [K in keyof F]: z.ZodExactOptional<z.ZodType<NonNullable<F[K]['fits']>>> }
}
