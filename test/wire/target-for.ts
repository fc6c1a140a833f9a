// A target with a few capabilities, for tests of the parts that all wires share.

import type { JsonObject } from '../../src/core/json.ts'
import type { Capabilities, Target } from '../../src/wires/wire.ts'

export function targetFor(capabilities: Partial<Capabilities>, answerSchema?: JsonObject): Target {
  return {
    provider: 'p',
    model: 'm',
    quirks: {},
    capabilities: { tools: true, ...capabilities },
    options: answerSchema ? { answerSchema } : {},
  } as unknown as Target
}
