// One writer per conversation. The lease is renewed during the run; if it was lost (this process was suspended for
// longer than it lasts, and another one took over) the run is stopped, and its next write is refused. A killed process
// cannot release its lease. Its successor on the same machine need not wait until it expires: the holder's name
// identifies the process, and the machine knows whether it is still alive. The same applies to a lease of this very
// process that could not be released because the database was unreachable.

import { createHash } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { isObject } from '../../core/json.ts'
import type { Lease } from '../../core/log.ts'
import { SynapseError } from '../../core/error.ts'
import type { Store, Write } from '../../store/store.ts'

const leaseMs = 30_000

export interface Held {
  /** Throws if the lease could not be committed. */
  write: () => Write
  release: () => Promise<void>
  /** Resolves when the lease is committed. */
  committed: Promise<unknown>
}

/**
 * `onLost` is called when another process has taken over. `withFirstWrite`: the
 * lease is not waited for, so that what is written at once shares its commit, if the store writes in order.
 */
export async function holdLease(
  store: Store,
  owner: string,
  conversationId: string,
  onLost: () => void = () => {},
  withFirstWrite: boolean = false,
): Promise<Held> {
  const { epoch, name, committed } = await takeLease(store, owner, conversationId, withFirstWrite)
  let failed: { error: unknown } | undefined
  committed.catch((error: unknown) => (failed = { error }))
  const renew = async (): Promise<void> => {
    try {
      await store.renewLease(owner, conversationId, epoch, leaseMs)
    } catch (error) {
      // Any other failure is ignored: the epoch in the next write decides.
      if (codeOf(error) === 'lease-lost') onLost()
    }
  }
  let renewing: Promise<void> | undefined
  const renewal = setInterval(() => {
    // One at a time: while the database is unreachable it waits there, and is the first to be done afterwards.
    renewing ??= renew().finally(() => (renewing = undefined))
  }, leaseMs / 3)
  renewal.unref()
  return {
    committed,
    write() {
      // Another process may have the same epoch by now.
      if (failed) throw failed.error
      return { epoch }
    },
    async release() {
      clearInterval(renewal)
      inUse.delete(name)
      // A lease that cannot be released expires; the work done under it has not failed.
      await committed.then(() => store.releaseLease(owner, conversationId, epoch)).catch(() => {})
    },
  }
}

/** The leases that runs of this process hold, and the conversations whose leases are being acquired. */
const inUse = new Set<string>()
const acquiring = new Map<string, number>()

function nameOf(conversationId: string, epoch: number): string {
  return `${conversationId} ${epoch}`
}

async function takeLease(
  store: Store,
  owner: string,
  conversationId: string,
  withFirstWrite: boolean,
): Promise<{ epoch: number; name: string; committed: Promise<unknown> }> {
  acquiring.set(conversationId, (acquiring.get(conversationId) ?? 0) + 1)
  try {
    const taken = Promise.withResolvers<Lease>()
    const committed = take(store, owner, conversationId, withFirstWrite ? taken.resolve : undefined)
    committed.then(taken.resolve, taken.reject)
    const { epoch } = await taken.promise
    const name = nameOf(conversationId, epoch)
    inUse.add(name)
    return { epoch, name, committed }
  } finally {
    const others = (acquiring.get(conversationId) ?? 1) - 1
    if (others > 0) acquiring.set(conversationId, others)
    else acquiring.delete(conversationId)
  }
}

async function take(
  store: Store,
  owner: string,
  conversationId: string,
  onTaken: ((lease: Lease) => void) | undefined,
): Promise<Lease> {
  const lease = { holder: thisProcess(), ttlMs: leaseMs, ...(onTaken && { onTaken }) }
  try {
    return await store.takeLease(owner, conversationId, lease)
  } catch (error) {
    const held = codeOf(error) === 'lease-held' && error instanceof SynapseError ? error.failure.raw : undefined
    if (!isObject(held) || typeof held['holder'] !== 'string' || typeof held['epoch'] !== 'number') throw error
    const mine = { conversationId, holder: held['holder'], epoch: held['epoch'] }
    if (!isAbandoned(mine, acquiring.get(conversationId) === 1)) throw error
    return store.takeLease(owner, conversationId, { ...lease, over: held['epoch'] })
  }
}

/**
 * Whether a lease is abandoned: its process has ended, or it is this one and no run of it has the lease or is acquiring
 * it.
 */
export function isAbandoned(
  { conversationId, holder, epoch }: Pick<Lease, 'conversationId' | 'holder' | 'epoch'>,
  isFree: boolean = !acquiring.has(conversationId),
): boolean {
  if (holder !== thisProcess()) return hasEnded(holder)
  return !inUse.has(nameOf(conversationId, epoch)) && isFree
}

/** Writes without a lease. An abandoned one, such as of a run that could not release it, is no reason to refuse. */
export async function writeOverAbandonedLease<T>(
  store: Store,
  owner: string,
  conversationId: string,
  write: () => Promise<T>,
): Promise<T> {
  try {
    return await write()
  } catch (error) {
    if (codeOf(error) !== 'lease-held') throw error
    await (await holdLease(store, owner, conversationId)).release()
    return write()
  }
}

function codeOf(error: unknown): string | undefined {
  return error instanceof SynapseError ? error.failure.code : undefined
}

/** `host:pid`, readable; then where and when it started, since a host may have several process lists. */
export function thisProcess(): string {
  self ??= `${hostname()}:${process.pid} (${processSpace()}.${startOf(process.pid) ?? ''})`
  return self
}

let self: string | undefined

/** Whether the holder was a process of this machine that has ended. False when in doubt. */
export function hasEnded(holder: string): boolean {
  const [, host, pid, space, start] = /^(.*):(\d+) \((\w+)\.(\d*)\)$/.exec(holder) ?? []
  if (host !== hostname() || space !== processSpace()) return false
  try {
    process.kill(Number(pid), 0)
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ESRCH'
  }
  const now = startOf(Number(pid))
  return now !== undefined && start !== '' && now !== start
}

let space: string | undefined

/** Containers may share a host name but not process ids; a rebooted machine has new ones. */
function processSpace(): string {
  space ??= createHash('sha256')
    .update(`${hostname()}\n${readOrEmpty(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8'))}`)
    .update(`\n${readOrEmpty(() => readlinkSync('/proc/self/ns/pid'))}`)
    .digest('hex')
    .slice(0, 12)
  return space
}

/** When a process started, in ticks since boot; unknown without /proc. */
function startOf(pid: number): string | undefined {
  const stat = readOrEmpty(() => readFileSync(`/proc/${pid}/stat`, 'utf8'))
  // The name of the program may contain spaces and brackets; the start time is the twentieth field after it.
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
}

function readOrEmpty(source: () => string): string {
  try {
    return source()
  } catch {
    return ''
  }
}
