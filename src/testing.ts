// `synapse/testing`: the providers, emulated in your own process, for your tests. No network, no keys, no model.

export type { ResponderInput } from './emulator/responder.ts'
export type { Script } from './emulator/exchange.ts'
export type { Fault } from './emulator/faults.ts'
export { createEmulator, type Emulator, type EmulatorOptions, type Received } from './emulator/handle.ts'
export { serveEmulator, type ServedEmulator, type ServeOptions } from './emulator/serve.ts'
