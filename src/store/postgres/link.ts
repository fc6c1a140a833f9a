// The connection state of a PostgreSQL server: whether it can be reached now, and which connections to it are dead.
//
// A connection that breaks reports it. One that swallows packets reports nothing: it is found because an answer does
// not arrive. Then a new connection is opened to ask the server what the old one is doing. If the server waits for the
// client while the client waits for the server, or does not know it any more, the old connection is destroyed. If no
// new connection can be opened the server is unreachable: calls wait until one can, up to their time limit.

import type { Socket } from 'node:net'
import { setImmediate as immediate, setTimeout as wait } from 'node:timers/promises'
import type { Failure } from '../../core/error.ts'
import type { Outage, Outages } from '../store.ts'
import { isLost, isTimeout } from './errors.ts'

/**
 * How long a call waits for an unreachable server: until a point in time, or for a duration from the moment it was
 * lost.
 */
export type Patience = { until: number } | { forMs: number }

/** One connection. */
export interface Line {
  readonly socket: Socket
  readonly openedAt: number
  /** The server's process for it, once it is ready. */
  backend?: string
  heardAt: number
  bytesRead: number
  /** The statement that waits for its answer. */
  asked?: { at: number; patience: Patience; checks: number; open: number }
}

/**
 * Opens a new connection to ask what these processes of the server do. Returns those that are gone, or waited for their
 * client: such are terminated.
 */
export type Look = (silent: readonly string[], orphans: readonly string[]) => Promise<readonly string[]>

interface Waiter {
  patience: Patience
  since: number
  back?: () => void
  giveUp(error: unknown): void
}

/** Without a byte for this long a connection is checked; twice as long after each time it turned out to be alive. */
const silentMs = 700
const mostChecks = 4
const tickMs = 100
const mostPauseMs = 250
const overlapMs = 500
const mostOrphans = 100

export class Link implements Outages {
  readonly #lines = new Set<Line>()
  readonly #waiters = new Set<Waiter>()
  readonly #listeners = new Set<(outage: Outage | undefined) => void>()
  readonly #look: Look
  /** Processes whose connection was closed here: the server may not have noticed. */
  #orphans: string[] = []
  readonly #explain: (error: unknown) => Failure
  readonly #ticks: NodeJS.Timeout
  #closed = false
  #probing = false
  #away: { at: number; error: unknown; outage: Outage } | undefined
  #backAt = Number.NEGATIVE_INFINITY
  #answeredAt = Number.NEGATIVE_INFINITY

  constructor(look: Look, explain: (error: unknown) => Failure) {
    this.#look = look
    this.#explain = explain
    this.#ticks = setInterval(() => this.#tick(), tickMs)
    this.#ticks.unref()
  }

  current(): Outage | undefined {
    return this.#away?.outage
  }

  watch(listener: (outage: Outage | undefined) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Whether the server was unreachable at any time since this moment. */
  wasAway(since: number): boolean {
    return this.#away !== undefined || this.#backAt >= since
  }

  add(socket: Socket): Line {
    const heardAt = Number.NEGATIVE_INFINITY
    const line: Line = { socket, openedAt: performance.now(), heardAt, bytesRead: 0 }
    this.#lines.add(line)
    socket.once('close', () => {
      this.#lines.delete(line)
      if (line.backend !== undefined) this.#orphans = [...this.#orphans, line.backend].slice(-mostOrphans)
    })
    return line
  }

  /** Sends something on a connection, and watches it until the answer arrives. */
  async ask<T>(line: Line, patience: Patience, send: () => Promise<T>): Promise<T> {
    const asked = (line.asked ??= { at: performance.now(), patience, checks: 0, open: 0 })
    asked.open++
    try {
      const answer = await send()
      line.heardAt = performance.now()
      return answer
    } finally {
      asked.open--
      if (asked.open === 0) delete line.asked
    }
  }

  /** A connection of the pool, unless the server is unreachable for too long; a later one is passed to `late`. */
  async acquire<T>(patience: Patience, connecting: Promise<T>, late: (connection: T) => void): Promise<T> {
    const { promise, reject } = Promise.withResolvers<never>()
    const waiter: Waiter = { patience, since: performance.now(), giveUp: reject }
    this.#waiters.add(waiter)
    try {
      return await Promise.race([connecting, promise])
    } catch (error) {
      connecting.then(late, () => {})
      throw error
    } finally {
      this.#waiters.delete(waiter)
    }
  }

  /** Resolves at once unless the server is known to be unreachable, then when it is back; rejects at the time limit. */
  async reachable(patience: Patience, since: number): Promise<void> {
    if (this.#away && !this.#closed) await this.#back(patience, since)
  }

  /** After a connection was lost: resolves when the server has answered on a new one. */
  async recovered(patience: Patience, since: number): Promise<void> {
    this.#suspect()
    if (this.#probing && !this.#closed) await this.#back(patience, since)
  }

  close(): void {
    clearInterval(this.#ticks)
    this.#closed = true
    for (const waiter of this.#waiters) waiter.giveUp(this.#away?.error ?? new Error('Connection terminated: closed'))
    // An unreachable server does not confirm the end.
    if (this.#away) for (const { socket } of this.#lines) socket.destroy()
  }

  #back(patience: Patience, since: number): Promise<void> {
    return new Promise((resolve, reject) => {
      // Keeps the process alive: it may have nothing else to wait for.
      const alive = setInterval(() => {}, 60_000)
      const waiter: Waiter = {
        patience,
        since,
        back: () => settle(resolve),
        giveUp: (error) => settle(() => reject(error instanceof Error ? error : new Error(String(error)))),
      }
      const settle = (end: () => void): void => {
        clearInterval(alive)
        this.#waiters.delete(waiter)
        end()
      }
      this.#waiters.add(waiter)
    })
  }

  #tick(): void {
    this.#listenAll()
    const now = performance.now()
    for (const line of this.#lines) {
      if (isSilent(line, now)) this.#suspect()
      const { asked } = line
      if (this.#away && asked && now > endOf(asked.patience, Math.max(asked.at, this.#away.at))) line.socket.destroy()
    }
    if (!this.#away) return
    for (const waiter of this.#waiters) {
      const since = waiter.back ? waiter.since : Math.max(waiter.since, this.#away.at)
      if (now > endOf(waiter.patience, since)) waiter.giveUp(this.#away.error)
    }
  }

  #listenAll(): void {
    const now = performance.now()
    for (const line of this.#lines) {
      if (line.socket.bytesRead === line.bytesRead) continue
      line.bytesRead = line.socket.bytesRead
      line.heardAt = now
    }
  }

  #suspect(): void {
    if (this.#probing || this.#closed) return
    this.#probing = true
    void this.#probe()
  }

  async #probe(): Promise<void> {
    const began = performance.now()
    for (;;) {
      // One that gets no answer is not awaited: the server may be back before it is given up.
      await Promise.race([this.#lookOnce(), wait(overlapMs, undefined, { ref: false })])
      if (this.#closed || this.#answeredAt >= began) return
      await wait(mostPauseMs * (0.2 + 0.8 * Math.random()), undefined, { ref: false })
    }
  }

  async #lookOnce(): Promise<void> {
    // A connection that was just lost is known to be closed only after this.
    await immediate()
    const began = performance.now()
    const silent = [...this.#lines].filter((line) => isSilent(line, began))
    const orphans = this.#orphans
    let dead: readonly string[] = []
    try {
      dead = await this.#look(
        silent.flatMap(({ backend }) => backend ?? []),
        orphans,
      )
      // One that was still busy is checked again: it may have locks.
      this.#orphans = this.#orphans.filter((orphan) => !dead.includes(orphan))
    } catch (error) {
      // If it answers with a refusal, the next caller will report it.
      if (isLost(error)) return this.#unanswered(error, began)
    }
    this.#answeredAt = performance.now()
    // Before the listeners run: from now on a lost connection starts a new search for the server.
    this.#probing = false
    this.#isBack(silent, dead, began)
  }

  #unanswered(error: unknown, began: number): void {
    if (this.#closed || this.#answeredAt > began) return
    this.#listenAll()
    // A busy server answers late, but it answers some connection.
    const isHeard = isTimeout(error) && [...this.#lines].some(({ heardAt }) => heardAt > began)
    if (!isHeard) this.#isAway(error)
  }

  #isAway(error: unknown): void {
    if (this.#away) {
      this.#away.error = error
      return
    }
    const outage = { since: new Date().toISOString(), failure: this.#explain(error) }
    this.#away = { at: performance.now(), error, outage }
    for (const listener of this.#listeners) listener(outage)
  }

  #isBack(silent: readonly Line[], dead: readonly string[], began: number): void {
    const wasAway = this.#away !== undefined
    // One that is not ready yet counts as dead if another one was ready in much less time.
    const now = performance.now()
    const isTooSlow = ({ openedAt }: Line): boolean => now - openedAt > silentMs + 3 * (now - began)
    const hasEnded = (line: Line): boolean =>
      line.backend === undefined ? isTooSlow(line) : dead.includes(line.backend)
    const ended = new Set(silent.filter(hasEnded))
    // What was silent since then may be as dead as what was found, and a new connection costs little.
    const from = this.#away?.at ?? Math.min(...[...ended].map(({ asked, openedAt }) => asked?.at ?? openedAt))
    for (const line of this.#lines) {
      const isIdle = !line.asked && line.backend !== undefined
      if (ended.has(line) || (isIdle && (wasAway || ended.size > 0) && line.heardAt < from)) line.socket.destroy()
      else if (line.asked && silent.includes(line)) line.asked.checks++
    }
    this.#away = undefined
    if (wasAway) this.#backAt = performance.now()
    for (const waiter of this.#waiters) waiter.back?.()
    if (wasAway) for (const listener of this.#listeners) listener(undefined)
  }
}

/** An answer, or a connection, is awaited and does not arrive. */
function isSilent({ asked, backend, openedAt, heardAt }: Line, now: number): boolean {
  if (!asked && backend !== undefined) return false
  const since = Math.max(asked?.at ?? openedAt, heardAt)
  return now - since > silentMs * 2 ** Math.min(asked?.checks ?? 0, mostChecks)
}

function endOf(patience: Patience, since: number): number {
  return 'until' in patience ? patience.until : since + patience.forMs
}
