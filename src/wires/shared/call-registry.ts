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
  const newId = newIds()
  const earlier = new Map<string, Entered>()
  let count = 0
  let current = new CallsOfReply()

  return {
    turn() {
      for (const call of current.all.list) if (call.alias !== undefined) earlier.set(call.alias, call)
      current = new CallsOfReply()
    },
    register(alias, name, item) {
      const callId = newId(alias ?? `call-${count}`)
      count++
      current.add({ callId, alias, name, answered: false, item })
      return callId
    },
    answer,
    answerItem(alias, name) {
      const first = answer(alias, name)
      if (!first) return []
      const ofItem = first.item === undefined ? undefined : current.byItem.get(first.item)
      const calls = [first]
      for (let other = ofItem?.firstOpen(); other; other = ofItem?.firstOpen()) {
        other.answered = true
        calls.push(other)
      }
      return calls
    },
  }

  function answer(alias: string | undefined, name: string | undefined): Entered | undefined {
    const call = alias === undefined ? openCall(name) : openCallOf(alias)
    if (call) call.answered = true
    return call
  }

  function openCall(name: string | undefined): Entered | undefined {
    const named = name === undefined ? undefined : current.byName.get(name)?.firstOpen()
    return named ?? current.all.firstOpen()
  }

  function openCallOf(alias: string): Entered | undefined {
    const candidates = current.byAlias.get(alias)
    return candidates?.firstOpen() ?? candidates?.list[0] ?? earlier.get(alias)
  }
}

/** The calls of a reply, which can have thousands: none is looked for among all of them. */
class CallsOfReply {
  readonly all = new Calls<Entered>()
  readonly byAlias = new Map<string, Calls<Entered>>()
  readonly byName = new Map<string, Calls<Entered>>()
  readonly byItem = new Map<number, Calls<Entered>>()

  add(call: Entered): void {
    this.all.list.push(call)
    addCall(this.byName, call.name, call)
    if (call.alias !== undefined) addCall(this.byAlias, call.alias, call)
    if (call.item !== undefined) addCall(this.byItem, call.item, call)
  }
}

/** Calls in their order. Each is looked at once, however often an open one is asked for. */
export class Calls<C extends { answered: boolean }> {
  readonly list: C[] = []
  #open = 0

  firstOpen(): C | undefined {
    while (this.list[this.#open]?.answered) this.#open++
    return this.list[this.#open]
  }
}

/** Adds a call to those under the same key. */
export function addCall<K, C extends { answered: boolean }>(calls: Map<K, Calls<C>>, key: K, call: C): void {
  const same = calls.get(key) ?? new Calls<C>()
  same.list.push(call)
  calls.set(key, same)
}

/** Gives out ids: the preferred one, with a number if it is taken. */
export function newIds(): (preferred: string) => string {
  /** With the next number to try. */
  const taken = new Map<string, number>()
  return (preferred) => {
    let n = taken.get(preferred) ?? 1
    let id = n === 1 ? preferred : `${preferred}~${n}`
    while (taken.has(id)) id = `${preferred}~${++n}`
    taken.set(id, 1)
    taken.set(preferred, n + 1)
    return id
  }
}
