// A probe of one wire of one provider, answered by the emulator.

import { createEmulator } from '../../src/emulator/handle.ts'
import { planProbe } from '../../src/probe/plan.ts'
import { type ProbeRow, runProbe } from '../../src/probe/run.ts'
import { endpointFinder } from '../../src/runtime/open.ts'
import type { Fetch } from '../../src/transport/send.ts'
import type { Endpoint } from '../../src/providers/resolve.ts'

export interface Emulated {
  budget?: number
  key?: string
  /** In place of the emulator's answer; undefined lets it answer. */
  instead?: (body: string, url: string) => { status: number; text: string } | undefined
}

export async function endpointOf(model: string, wire: string): Promise<Endpoint> {
  const find = await endpointFinder({ offline: createEmulator() })
  return (await find(model, wire)).endpoint
}

export async function probeEmulated(model: string, wire: string, options: Emulated = {}): Promise<ProbeRow[]> {
  const found = await endpointOf(model, wire)
  const emulator = createEmulator()
  const fetch: Fetch = async (url, init) => {
    const other = options.instead?.(String(init.body), url)
    if (!other) return emulator.answer(url, init)
    return new Response(other.text, { status: other.status })
  }
  const headers = Object.fromEntries(Object.entries(found.headers).map(([name, value]) => [name, options.key ?? value]))
  const endpoint = { ...found, headers }
  return runProbe({
    endpoint,
    steps: await planProbe(endpoint),
    transport: { fetch, sleep: async () => {} },
    budget: options.budget ?? 1,
  })
}
