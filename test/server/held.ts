// How long the event loop is held, in processor time of this thread: what other processes do does not count.

/** The longest stretch between two turns of the event loop, and all of it. */
export async function held(act: () => Promise<unknown>): Promise<{ longest: number; all: number }> {
  const start = processor()
  let [last, longest, done] = [start, 0, false]
  const turns = new Promise<void>((resolve) => {
    const turn = (): void => {
      const now = processor()
      longest = Math.max(longest, now - last)
      last = now
      if (done) resolve()
      else setTimeout(turn, 1)
    }
    turn()
  })
  await act()
  done = true
  await turns
  return { longest, all: last - start }
}

/** All of it, without looking in between: on a busy machine the looks would add up. */
export async function spent(act: () => Promise<unknown>): Promise<number> {
  const start = processor()
  await act()
  return processor() - start
}

function processor(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
