// Who answers in these programs: the emulator, in this process and on loopback.

import { createEmulator, serveEmulator } from '../../src/testing.ts'

export const emulator = createEmulator()
export const { url, close } = await serveEmulator()
