// The writes that a connection has been asked for. Those requested in the same turn of the event loop, or while the disk
// is awaited, are one group: they share one transaction, and thus one disk sync; each is answered after that.

export interface WaitingWrite {
  /** Does it, and returns a function to call when it is answered. */
  run: () => () => void
  reject: (error: unknown) => void
  isDurable: boolean
  /** Called once it was done, before it is committed: what this leads to in the same turn shares its transaction. */
  onDone?: (() => void) | undefined
}

/** What happens to a group, in this order. */
export interface GroupSteps {
  /** What has to be awaited before it is taken from the queue. */
  begin(): Promise<void> | undefined
  /** Adds to the group what is to be committed with it. Returns what answers each write. */
  commit(group: WaitingWrite[]): Promise<(() => void)[]>
  /** Waits until the commit is on disk; left out if no write is durable. */
  sync(): Promise<void>
  end(): void
}

export class WriteQueue {
  readonly #steps: GroupSteps
  #waiting: WaitingWrite[] = []
  #writing: Promise<void> | undefined
  #isNextDue = false

  constructor(steps: GroupSteps) {
    this.#steps = steps
  }

  add<T>(work: () => T, isDurable: boolean, onDone: ((result: T) => void) | undefined): Promise<T> {
    return new Promise((resolve, reject) => {
      const write: WaitingWrite = {
        run: () => {
          const result = work()
          if (onDone) write.onDone = () => onDone(result)
          return () => resolve(result)
        },
        reject,
        isDurable,
      }
      if (this.#waiting.push(write) === 1) this.#soon()
    })
  }

  /** Removes all that wait. */
  take(): WaitingWrite[] {
    const waiting = this.#waiting
    this.#waiting = []
    return waiting
  }

  /** Waits for all writes that were requested. */
  async settled(): Promise<void> {
    while (this.#writing || this.#waiting.length > 0) await (this.#writing ?? this.#writeWaiting())
  }

  /** At the end of this turn of the event loop: what is requested until then is written together. */
  #soon(): void {
    setImmediate(() => void this.#writeWaiting())
  }

  /** One group at a time, even if one has to wait: writes build on earlier ones. */
  async #writeWaiting(): Promise<void> {
    if (this.#writing) {
      this.#isNextDue = true
      return this.#writing
    }
    this.#writing = this.#writeGroup()
    await this.#writing
    this.#writing = undefined
    if (this.#isNextDue) this.#soon()
    this.#isNextDue = false
  }

  async #writeGroup(): Promise<void> {
    const { begin, commit, sync, end } = this.#steps
    const beginning = begin()
    if (beginning) await beginning
    const group = this.take()
    if (group.length === 0) return
    try {
      const answers = await commit(group)
      for (const [i, answer] of answers.entries()) if (!group[i]?.isDurable) answer()
      if (group.some((write) => write.isDurable)) await sync()
      for (const [i, answer] of answers.entries()) if (group[i]?.isDurable) answer()
      end()
    } catch (error) {
      for (const { reject } of group) reject(error)
    }
  }
}
