// What to leave out of a request, as settings. A preset is a name for some of them.

import type { FoldStyle } from './tool-turns.ts'

export interface PolicySettings {
  /** The most messages that are sent; null = all. */
  maxMessages?: number | null
  /** The most tokens of messages that are sent, by estimate; null = as many as the model takes. */
  maxTokens?: number | null
  /** How many tool turns stay whole; null = all. */
  maxToolTurns?: number | null
  /** What becomes of older tool turns. */
  fold?: FoldStyle
  /** How many messages, or tool turns, a cut goes beyond what it must, so that the next one is far away. */
  step?: number
}

export type PresetName = 'economy' | 'classic' | 'full' | 'small'
export type Policy = PresetName | PolicySettings

export const presets: Record<PresetName, PolicySettings> = {
  economy: { maxToolTurns: 10 },
  classic: { maxMessages: 20, maxToolTurns: 3 },
  full: {},
  small: { maxToolTurns: 3, fold: 'stub' },
}

export function settingsOf(policy: Policy): PolicySettings {
  return typeof policy === 'string' ? presets[policy] : policy
}
