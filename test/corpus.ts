// Recorded traffic that is stored next to the repository, not in it. Tests that need it are skipped where it is absent.

import { existsSync, globSync } from 'node:fs'
import { join } from 'node:path'

const folder = join(import.meta.dirname, '..', '..', 'shared', 'corpus')

/** For the `skip` option of a test: false, or the reason. */
export const noCorpus: string | false = existsSync(folder) ? false : 'the recorded corpus is not on this machine'

export function corpusFiles(pattern: string): string[] {
  return noCorpus
    ? []
    : globSync(pattern, { cwd: folder })
        .toSorted()
        .map((file) => join(folder, file))
}
