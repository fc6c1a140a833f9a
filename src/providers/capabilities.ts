// What can be asked of a target: the protocol's word, refined by the catalogue, the provider and the model, in this one
// place. A field that is absent in a later layer is left as it is.

import type { Capabilities, Wire } from '../wires/wire.ts'
import type { ModelPatch } from './models.ts'
import type { ModelFacts } from './price.ts'
import type { Caching, ProviderWire } from './provider.ts'

export function mergeCapabilities(
  protocol: Wire,
  wire: ProviderWire,
  facts: ModelFacts,
  patch: ModelPatch,
): Capabilities {
  return {
    ...protocol.capabilities,
    ...(facts.contextWindow !== undefined && { contextWindow: facts.contextWindow }),
    ...wire.capabilities,
    ...patch.capabilities,
  }
}

export function mergeCaching(wire: ProviderWire, patch: ModelPatch): Caching {
  return wire.caching === 'none' ? { kind: 'none' } : { kind: wire.caching, ...patch.cache }
}
