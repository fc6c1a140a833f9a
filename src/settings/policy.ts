// What to leave out of a request, as settings. A preset is a name for some of them.

export interface PolicySettings {
  /** Start from this preset, and override it with the other settings. */
  preset?: PresetName
  /** The most messages that are sent; null = all. */
  maxMessages?: number | null
  /** The most tokens of messages that are sent, by estimate; null = as many as fit the model. */
  maxTokens?: number | null
  /** How many tool turns stay complete; null = all. */
  maxToolTurns?: number | null
  /** What happens to older tool turns. */
  fold?: FoldStyle
  /** How many messages, or tool turns, a cut removes beyond what it must, so that the next one comes much later. */
  step?: number
  /**
   * When messages and tool turns over the limits are removed: in `steps`, by counting; or by `economy`, when that is
   * cheaper than keeping them, and then down to the limits.
   */
  rhythm?: 'steps' | 'economy'
  /** The share of the model's window that is filled before anything is removed because of its size. */
  usable?: number
  /** The share of that which remains after such a cut. */
  floor?: number
  /** What happens when the history is still too long after folding: a summary, or a plain cut. */
  atLimit?: 'summary' | 'cut'
  /** The assumed window of a model without a known one. */
  assumedWindow?: number
  /** A long text that opens every request, before the system prompt, and is never cut. */
  pinned?: string
  /** `auto`: a provider that stores conversations gets only what is new to it. */
  state?: 'auto' | 'off'
  /** False: the model is not offered the tool `recall`, which retrieves what was folded or cut. */
  recall?: boolean
  compaction?: CompactionSettings
}

export interface CompactionSettings {
  /** The instructions of the summarising model. */
  prompt?: string
  /** The most tokens of a summary. */
  budget?: number
  /** How many of the last messages are not changed, at most. */
  keep?: number
  /** Summarise whenever this many user messages have come since the last summary. */
  every?: number
  /** False: never the provider's own compaction, always a text summary. */
  native?: boolean
  /**
   * A provider that supports it summarises by itself once a prompt has this many tokens, in the middle of its answer.
   */
  at?: number
}

/** `provider`: results and thinking, which a provider that supports it drops itself; others get what is left. */
export const foldStyles = ['stub', 'results', 'remove', 'provider'] as const
export type FoldStyle = (typeof foldStyles)[number]

export const presetNames = ['economy', 'classic', 'full', 'small'] as const
export type PresetName = (typeof presetNames)[number]
export type Policy = PresetName | PolicySettings

const presets: Record<PresetName, PolicySettings> = {
  economy: { maxToolTurns: 4, rhythm: 'economy' },
  classic: { maxMessages: 20, maxToolTurns: 3 },
  full: {},
  small: { usable: 0.8, floor: 0.3, atLimit: 'cut', assumedWindow: 8192 },
}

export function settingsOf(policy: Policy): PolicySettings {
  if (typeof policy === 'string') return presets[policy]
  return policy.preset === undefined ? policy : { ...presets[policy.preset], ...policy }
}
