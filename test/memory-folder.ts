// A folder in memory for the temporary files of tests: most of the time of a small SQLite transaction is waiting for the
// disk. What tests how safe the files are stays on the disk.

import { chmodSync, globSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { join } from 'node:path'

const place = '/dev/shm'
const prefix = 'synapse-tests-'

/** All files of a run together take less than a tenth of it. */
const leastBytes = 4 * 1024 ** 3

/** Undefined where the machine has none, or too small a one, or one whose programs cannot be run. */
export function makeMemoryFolder(): string | undefined {
  try {
    const options = new RegExp(`^\\S+ ${place} tmpfs (\\S+)`, 'm').exec(readFileSync('/proc/mounts', 'utf8'))?.[1]
    const { bavail, bsize } = statfsSync(place)
    if (options === undefined || options.split(',').includes('noexec') || bavail * bsize < leastBytes) return undefined
    for (const left of globSync(join(place, `${prefix}*`))) if (isLeft(left)) rmSync(left, { recursive: true })
    const folder = mkdtempSync(join(place, `${prefix}${process.pid}-`))
    // Some processes of the tests run as another user.
    chmodSync(folder, 0o1777)
    return folder
  } catch {
    return undefined
  }
}

/** By a run that was killed. */
function isLeft(folder: string): boolean {
  try {
    return !process.kill(Number(folder.slice(join(place, prefix).length).split('-', 1)[0]), 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}
