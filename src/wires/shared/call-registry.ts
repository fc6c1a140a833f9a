// Which call a result answers, while a transcript is read from its beginning. Ids in transcripts are the provider's:
// they repeat from reply to reply, and some wires have none, so that only name and order decide.

export interface CallRegistry {
  /** Starts a reply: the following calls belong to it. */
  turn(): void
  /** Our id for the next call: the provider's, unless it is taken. */
  register(alias: string | undefined, name: string, item?: number): string
  /** The call that a result answers, if there is one. */
  answer(alias: string | undefined, name: string | undefined): Answered | undefined
  /** The same, plus the other open calls of the same item: one result answers them all. */
  answerItem(alias: string | undefined, name: string | undefined): Answered[]
}

interface Answered {
  callId: string
  name: string
}

interface Entered {
  callId: string
  alias: string | undefined
  name: string
  answered: boolean
  item: number | undefined
}

export function callRegistry(): CallRegistry {
  const used = new Set<string>()
  const earlier = new Map<string, Entered>()
  let current: Entered[] = []

  return {
    turn() {
      for (const call of current) if (call.alias !== undefined) earlier.set(call.alias, call)
      current = []
    },
    register(alias, name, item) {
      const preferred = alias ?? `call-${used.size}`
      let callId = preferred
      for (let n = 2; used.has(callId); n++) callId = `${preferred}~${n}`
      used.add(callId)
      current.push({ callId, alias, name, answered: false, item })
      return callId
    },
    answer,
    answerItem(alias, name) {
      const first = answer(alias, name)
      if (!first) return []
      const others = current.filter((call) => call.item !== undefined && call.item === first.item && !call.answered)
      for (const call of others) call.answered = true
      return [first, ...others]
    },
  }

  function answer(alias: string | undefined, name: string | undefined): Entered | undefined {
    const call = alias === undefined ? openCall(name) : openCallOf(alias)
    if (call) call.answered = true
    return call
  }

  function openCall(name: string | undefined): Entered | undefined {
    const open = current.filter((call) => !call.answered)
    return open.find((call) => call.name === name) ?? open[0]
  }

  function openCallOf(alias: string): Entered | undefined {
    const candidates = current.filter((call) => call.alias === alias)
    return candidates.find((call) => !call.answered) ?? candidates[0] ?? earlier.get(alias)
  }
}
