// What a wire says when something is wrong that no request can help: for faults that name a status and no body, and for
// the error event inside a stream.

import type { Json } from '../core/json.ts'
import type { WireService } from '../wires/service.ts'
import { standardErrors } from '../wires/shared/standard-errors.ts'
import type { Profile, Wire } from '../wires/wire.ts'

export function standardError(protocol: Wire, { errors }: WireService, status: number, profile: Profile): Json {
  const words = errors?.[status] ?? standardErrors[status] ?? { message: `The server answered ${status}.` }
  return protocol.errorBody({ rule: 'fault', status, ...words }, profile)
}

/** The event that tells of an overload in the middle of a stream that began well. */
export function errorEvent(protocol: Wire, service: WireService, profile: Profile): Json {
  return service.errorEvent ?? standardError(protocol, service, 503, profile)
}
