// Everybody we know. Facts checked 2026-11; a difference that nobody has documented or seen is not in here.

import type { ProviderRow } from './provider.ts'
import { hosts } from './rows/hosts.ts'
import { local } from './rows/local.ts'
import { makers } from './rows/makers.ts'

export { compatible } from './rows/local.ts'

export const rows: readonly ProviderRow[] = [...makers, ...hosts, ...local]
