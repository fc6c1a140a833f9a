// Whether a request would be accepted: histories as crashes, cuts and switches leave them, on every wire.

import type { JsonObject } from '../../src/core/json.ts'
import { prepare, refuse } from '../../src/runtime/prepare.ts'
import { clock, type Peer } from '../peers/peer.ts'
import { objection } from '../validity/independent.ts'
import { scenarios, type Scenario } from '../validity/scenarios.ts'
import { wires, type Wire } from '../validity/wires.ts'
import type { Row } from '../row.ts'

export const validity: Row = {
  name: 'validity',
  about:
    'Histories as a crash, a cut, a switch of provider or an import leaves them, on every wire that a library speaks: accepted / tried. A request counts as accepted when `refuse` finds nothing and neither does a second reading of the rules.',

  async run({ quick }) {
    const peers = quick ? [] : await installedPeers()
    const all = [ours, ...peers]
    const kinds = [...new Set(scenarios.map((one) => one.kind))]
    const lines: (string | number)[][] = []
    const faults = new Map<string, Map<string, number>>()
    const totals = new Map<string, { accepted: number; cells: number }>()
    let disagreements = 0
    for (const peer of all) {
      const total = { accepted: 0, cells: 0 }
      const line: (string | number)[] = [peer.name]
      for (const kind of kinds) {
        const cell = { accepted: 0, cells: 0 }
        for (const scenario of scenarios.filter((one) => one.kind === kind)) {
          for (const wire of wires.filter((one) => peer.protocols.includes(one.protocol))) {
            const { fault, disagrees } = await judge(peer, scenario, wire)
            cell.cells++
            if (disagrees && peer === ours) disagreements++
            if (fault === undefined) cell.accepted++
            else count(faults, peer.name, fault)
          }
        }
        line.push(`${cell.accepted} / ${cell.cells}`)
        total.accepted += cell.accepted
        total.cells += cell.cells
      }
      totals.set(peer.name, total)
      lines.push([...line, `${Math.round((100 * total.accepted) / total.cells)} %`])
    }
    const { accepted = 0, cells = 1 } = totals.get(ours.name) ?? {}
    return {
      tables: [
        { head: ['who', ...kinds, 'all'], lines },
        {
          title: 'What was refused most often',
          head: ['who', 'what', 'times'],
          lines: [...faults].flatMap(([who, found]) =>
            [...found]
              .sort((a, b) => b[1] - a[1])
              .slice(0, 4)
              .map(([what, times]) => [who, what, times]),
          ),
        },
      ],
      checks: [
        { what: 'ours accepted, share of all cells', value: accepted / cells, bound: 1, atLeast: true, exact: true },
        {
          what: 'our requests on which the two readings of the rules differ',
          value: disagreements,
          bound: 0,
          exact: true,
        },
      ],
      remarks: [
        'Peers are given the history in their own types, and the body is taken where it leaves them. A library that throws before it sends counts as refused.',
      ],
    }
  },
}

const ours: Peer = {
  name: 'Synapse',
  protocols: wires.map((wire) => wire.protocol),
  sent(protocol, messages) {
    const wire = wires.find((one) => one.protocol === protocol)
    if (!wire) throw new TypeError(`no wire ${protocol}`)
    return Promise.resolve(JSON.stringify(prepare({ ...wire, messages, tools: [clock], policy: 'full' }).body))
  },
}

async function installedPeers(): Promise<Peer[]> {
  const { aiSdk } = await import('../peers/ai-sdk.ts')
  const { langchain } = await import('../peers/langchain.ts')
  const { pi } = await import('../peers/pi.ts')
  return [aiSdk, langchain, pi]
}

async function judge(peer: Peer, scenario: Scenario, wire: Wire): Promise<{ fault?: string; disagrees: boolean }> {
  let body: JsonObject
  try {
    body = JSON.parse(await peer.sent(wire.protocol, scenario.messages)) as JsonObject
  } catch (error) {
    const reason = error instanceof Error ? (error.message.split('\n', 1)[0] ?? '') : String(error)
    return { fault: `throws: ${reason.slice(0, 90)}`, disagrees: false }
  }
  const [issue] = refuse(wire.protocol, body, wire)
  const second = objection(wire.protocol, body)
  const fault = second ?? issue?.message.slice(0, 90)
  return {
    ...(fault !== undefined && { fault: `${wire.protocol}: ${fault}` }),
    disagrees: Boolean(issue) !== Boolean(second),
  }
}

function count(faults: Map<string, Map<string, number>>, who: string, what: string): void {
  const found = faults.get(who) ?? new Map<string, number>()
  found.set(what, (found.get(what) ?? 0) + 1)
  faults.set(who, found)
}
