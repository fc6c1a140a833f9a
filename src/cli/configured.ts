// The configuration at the terminal. Most people have none: YAML is loaded only where there is a file.

import type { Config } from '../config/load.ts'
import { findConfigFile } from '../config/find-file.ts'

export const configOptions = { config: { type: 'string' } } as const

/** Undefined: there is no file, and everything is as built in. */
export async function configured(values: { config?: string | undefined }): Promise<Config | undefined> {
  if (!findConfigFile({ file: values.config })) return undefined
  const { loadConfig } = await import('../config/load.ts')
  return loadConfig({ file: values.config })
}
