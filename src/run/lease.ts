// One writer per conversation. The lease is renewed while the run continues; when it was lost (this process was asleep
// for longer than it lasts, and another one took over) the run is told to stop, and its next write is refused.
//
// A process that was killed cannot give its lease back. Its successor on the same machine need not wait until it has
// run out: the holder's name says which process it was, and the machine knows whether that one still lives. The same
// goes for a lease of this very process that could not be given back because the database was away.

import { createHash } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { isObject } from '../core/json.ts'
import type { Lease } from '../core/log.ts'
import { SynapseError } from '../core/error.ts'
import type { Store, Write } from '../store/store.ts'

const leaseMs = 30_000

export interface Held {
  write: () => Write
  release: () => Promise<void>
}

/** `onLost` is called when another process has taken over: whatever is still running here is for nothing. */
export async function holdLease(
  store: Store,
  owner: string,
  conversationId: string,
  onLost: () => void = () => {},
): Promise<Held> {
  const { epoch, name } = await takeLease(store, owner, conversationId)
  const renew = async (): Promise<void> => {
    try {
      await store.renewLease(owner, conversationId, epoch, leaseMs)
    } catch (error) {
      // Any other failure needs no alarm: the epoch in the next write decides.
      if (codeOf(error) === 'lease-lost') onLost()
    }
  }
  let renewing: Promise<void> | undefined
  const renewal = setInterval(() => {
    // One at a time: while the database is away it waits there, and is the first to be done afterwards.
    renewing ??= renew().finally(() => (renewing = undefined))
  }, leaseMs / 3)
  renewal.unref()
  return {
    write: () => ({ epoch }),
    async release() {
      clearInterval(renewal)
      inUse.delete(name)
      // What cannot be given back runs out; that is no failure of what was done with it.
      await store.releaseLease(owner, conversationId, epoch).catch(() => {})
    },
  }
}

/** The leases that runs of this process hold now, and the conversations for which some are about to. */
const inUse = new Set<string>()
const wanted = new Map<string, number>()

function nameOf(conversationId: string, epoch: number): string {
  return `${conversationId} ${epoch}`
}

async function takeLease(
  store: Store,
  owner: string,
  conversationId: string,
): Promise<{ epoch: number; name: string }> {
  wanted.set(conversationId, (wanted.get(conversationId) ?? 0) + 1)
  try {
    const { epoch } = await take(store, owner, conversationId)
    const name = nameOf(conversationId, epoch)
    inUse.add(name)
    return { epoch, name }
  } finally {
    const others = (wanted.get(conversationId) ?? 1) - 1
    if (others > 0) wanted.set(conversationId, others)
    else wanted.delete(conversationId)
  }
}

async function take(store: Store, owner: string, conversationId: string): Promise<Lease> {
  const lease = { holder: thisProcess(), ttlMs: leaseMs }
  try {
    return await store.takeLease(owner, conversationId, lease)
  } catch (error) {
    const held = codeOf(error) === 'lease-held' && error instanceof SynapseError ? error.failure.raw : undefined
    if (!isObject(held) || typeof held['holder'] !== 'string' || typeof held['epoch'] !== 'number') throw error
    const mine = { conversationId, holder: held['holder'], epoch: held['epoch'] }
    if (!isAbandoned(mine, wanted.get(conversationId) === 1)) throw error
    return store.takeLease(owner, conversationId, { ...lease, over: held['epoch'] })
  }
}

/**
 * Whether no one works under a lease any more: its process has ended, or it is this one, and no run of it has the lease
 * or is about to take it.
 */
export function isAbandoned(
  { conversationId, holder, epoch }: Pick<Lease, 'conversationId' | 'holder' | 'epoch'>,
  isFree: boolean = !wanted.has(conversationId),
): boolean {
  if (holder !== thisProcess()) return isGone(holder)
  return !inUse.has(nameOf(conversationId, epoch)) && isFree
}

/** Writes without a lease. One that was abandoned, such as by a run that could not give it back, is no reason to refuse. */
export async function pastAbandonedLease<T>(
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

/** `host:pid` for people; behind it where and when it started, since a host may have several lists of processes. */
export function thisProcess(): string {
  self ??= `${hostname()}:${process.pid} (${processSpace()}.${startOf(process.pid) ?? ''})`
  return self
}

let self: string | undefined

/** Whether the holder was a process of this machine that has ended. When in doubt it has not. */
export function isGone(holder: string): boolean {
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

/** Containers may share a host name but not their process numbers; a machine that was started again has new ones. */
function processSpace(): string {
  space ??= createHash('sha256')
    .update(`${hostname()}\n${read(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8'))}`)
    .update(`\n${read(() => readlinkSync('/proc/self/ns/pid'))}`)
    .digest('hex')
    .slice(0, 12)
  return space
}

/** When a process started, in ticks since the machine did; unknown where there is no /proc. */
function startOf(pid: number): string | undefined {
  const stat = read(() => readFileSync(`/proc/${pid}/stat`, 'utf8'))
  // The name of the program may hold spaces and brackets; the start is the twentieth field behind it.
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
}

function read(source: () => string): string {
  try {
    return source()
  } catch {
    return ''
  }
}
