// What differs by model on this wire, read from the model's name, for the rules of the API. The encoder does not use
// this: it uses the given capabilities. A name that is not a Claude model has no special rules. Facts checked 2026-11.

export interface Model {
  family: 'opus' | 'sonnet' | 'haiku' | 'fable' | 'mythos'
  /** 4.5 for claude-opus-4-5; 4 for claude-opus-4-20250514. */
  version: number
}

const name = /(opus|sonnet|haiku|fable|mythos)-(\d)(?:[-.](\d{1,2}))?(?!\d)/
const oldName = /claude-(\d)(?:[-.](\d))?-(opus|sonnet|haiku)/

export function modelOf(model: string | undefined): Model | undefined {
  const old = oldName.exec(model ?? '')
  if (old) return { family: old[3] as Model['family'], version: Number(`${old[1]}.${old[2] ?? 0}`) }
  const match = name.exec(model ?? '')
  if (!match) return undefined
  return { family: match[1] as Model['family'], version: Number(`${match[2]}.${match[3] ?? 0}`) }
}

/** Signatures are valid on every host of a Claude model, and on no other model. */
export function isClaude(model: string): boolean {
  return /claude/i.test(model)
}

/** A name that Anthropic's own API answers with 404: of the claude line, but of an unknown family. */
export function isUnheardOf(model: string): boolean {
  return model.startsWith('claude-') && !/^claude-(\d|instant|opus|sonnet|haiku|fable|mythos)/.test(model)
}

export function takesPrefill({ version }: Model): boolean {
  return version < 4.6
}

export function takesSampling({ version }: Model): boolean {
  return version <= 4.6
}

/** Accepts `temperature` or `top_p`, but not both. */
export function takesOneSampling({ family, version }: Model): boolean {
  return version >= 4.5 || (family === 'opus' && version >= 4.1)
}

export function takesManualThinking({ version }: Model): boolean {
  return version < 4.7
}

export function takesAdaptiveThinking({ version }: Model): boolean {
  return version >= 4.6
}

export function takesDisabledThinking({ family, version }: Model): boolean {
  if (family === 'fable' || family === 'mythos') return false
  return !(family === 'opus' && version >= 5.5)
}

export function takesForcedTool({ family, version }: Model): boolean {
  if (family === 'fable' || family === 'mythos') return version < 5.1
  return !(family === 'opus' && version >= 5.5)
}

/** Sonnet 5 does not; the behaviour of Sonnet 5.5 and Haiku 5.5 is not documented, so they are not refused. */
export function takesMidSystem({ family, version }: Model): boolean {
  if (family === 'sonnet') return version > 5
  return version >= 4.8
}

/** Only documented limits. */
export function maxOutputOf({ family, version }: Model): number | undefined {
  if (version < 3.5) return 4096
  if (version < 3.7) return 8192
  if (family === 'opus' && version < 4.5) return 32_000
  return undefined
}

/** The levels of `output_config.effort`; empty: the model does not support the field. */
export function effortsOf({ family, version }: Model): string[] {
  if (version < 4.5 || (version < 4.6 && family !== 'opus')) return []
  if (version < 4.6) return ['low', 'medium', 'high']
  return version < 4.7 ? ['low', 'medium', 'high', 'max'] : ['low', 'medium', 'high', 'xhigh', 'max']
}
