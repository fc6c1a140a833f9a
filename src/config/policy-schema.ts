// What to leave out of requests, as a file says it: a preset's name, or settings. Every field of PolicySettings is here;
// the compiler sees to that.

import * as z from 'zod'
import {
  presets,
  type CompactionSettings,
  type FoldStyle,
  type Policy,
  type PolicySettings,
} from '../settings/policy.ts'

const foldStyles = ['stub', 'results', 'remove', 'provider'] as const satisfies readonly FoldStyle[]
const limit = z.int().min(1).nullable().exactOptional()
const share = z.number().gt(0).max(1).exactOptional()
const names = z.enum(Object.keys(presets) as [keyof typeof presets, ...(keyof typeof presets)[]])

const compaction = z.strictObject({
  prompt: z.string().exactOptional(),
  budget: z.int().min(1).exactOptional(),
  keep: z.int().min(0).exactOptional(),
  every: z.int().min(1).exactOptional(),
  native: z.boolean().exactOptional(),
  at: z.int().min(1).exactOptional(),
} satisfies Record<keyof CompactionSettings, z.ZodType>)

const settings = z.strictObject({
  preset: names.describe('Begin with this preset.').exactOptional(),
  maxMessages: limit.describe('The most messages that are sent; null: all.'),
  maxTokens: limit.describe('The most tokens of messages that are sent; null: as many as the model takes.'),
  maxToolTurns: limit.describe('How many tool turns stay whole; null: all.'),
  fold: z.enum(foldStyles).describe('What becomes of older tool turns.').exactOptional(),
  step: z.int().min(1).exactOptional(),
  rhythm: z.enum(['steps', 'economy']).exactOptional(),
  usable: share,
  floor: share,
  atLimit: z.enum(['summary', 'cut']).exactOptional(),
  assumedWindow: z.int().min(256).exactOptional(),
  pinned: z.string().describe('A text that opens every request and is never cut.').exactOptional(),
  state: z.enum(['auto', 'off']).exactOptional(),
  compaction: compaction.exactOptional(),
} satisfies Record<keyof PolicySettings, z.ZodType>)

export const policySchema: z.ZodType<Policy> = z.union([names, settings]).describe('What to leave out of requests.')
