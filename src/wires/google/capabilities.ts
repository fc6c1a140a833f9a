// What can be asked of Gemini over both of its wires.

import type { Capabilities } from '../wire.ts'

export const geminiImages: readonly string[] = ['image/png', 'image/jpeg', 'image/webp', 'image/heic', 'image/heif']

export const geminiCapabilities: Omit<Capabilities, 'media' | 'resultMedia'> = {
  contextWindow: 1_048_576,
  maxOutput: 65_536,
  mediaUrls: true,
  tools: true,
  maxTools: 512,
  sampling: true,
  forcedTool: true,
  prefill: false,
  midSystem: false,
  efforts: ['minimal', 'low', 'medium', 'high'],
  signedCalls: true,
}
