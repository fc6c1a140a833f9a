// A row of the bench: what is measured, the bound it must keep, and the table that it prints.

export interface Row {
  name: string
  about: string
  run(mode: Mode): Promise<Outcome>
}

/** `quick` is what CI runs: smaller sizes, the same bounds with room for noise. */
export interface Mode {
  quick: boolean
}

export interface Outcome {
  tables: Table[]
  checks: Check[]
  /** What a reader must know to read the table. */
  remarks?: string[]
}

export interface Table {
  title?: string
  head: string[]
  lines: (string | number)[][]
}

/** A bound and how it came out. */
export interface Check {
  what: string
  value: number
  /** The most it may be (or the least, for `atLeast`). */
  bound: number
  atLeast?: boolean
  /** Not measured with a clock: the bound holds to the letter. */
  exact?: boolean
  /** Why it is not met, if that is known. */
  excuse?: string
}

/** Beyond the bound by more than this is not noise. */
const noise = { quick: 0.35, full: 0.1 }

export function holds(check: Check, mode: Mode): boolean {
  const room = check.exact ? 0 : mode.quick ? noise.quick : noise.full
  if (!Number.isFinite(check.value)) return false
  return check.atLeast ? check.value >= check.bound * (1 - room) : check.value <= check.bound * (1 + room)
}

/** Whether the bound itself is met, without room for noise. */
export function isMet({ value, bound, atLeast }: Check): boolean {
  return atLeast ? value >= bound : value <= bound
}

export function ratio(value: number | undefined, of: number | undefined): number | string {
  return value === undefined || of === undefined ? '–' : Number((value / of).toPrecision(3))
}
