// Numbers, costs and times in readable form.

const wholeNumber = new Intl.NumberFormat('en-US')
const short = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 })
const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' })
const day = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric' })
const dayOfYear = new Intl.DateTimeFormat(undefined, { year: 'numeric', month: 'short', day: 'numeric' })
const month = new Intl.DateTimeFormat(undefined, { year: 'numeric', month: 'long' })
const moment = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })

export function count(value: number): string {
  return wholeNumber.format(value)
}

export function compact(value: number): string {
  return value < 1000 ? String(Math.round(value)) : short.format(value)
}

export function money(dollars: number | undefined): string {
  if (dollars === undefined) return 'price unknown'
  if (dollars === 0) return '$0'
  if (dollars < 0.001) return `${Number((dollars * 100).toPrecision(2))} ¢`
  return `$${dollars < 0.1 ? dollars.toFixed(4) : dollars < 100 ? dollars.toFixed(2) : dollars.toFixed(0)}`
}

export function duration(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`
  const seconds = ms / 1000
  return seconds < 60 ? `${seconds.toFixed(1)} s` : `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`
}

export function timeOf(iso: string): string {
  return clock.format(new Date(iso))
}

export function momentOf(iso: string): string {
  return moment.format(new Date(iso))
}

/** For a list: the time for today, otherwise the day, with the year if it is another. */
export function whenOf(iso: string): string {
  const date = new Date(iso)
  const now = new Date()
  return date.toDateString() === now.toDateString() ? clock.format(date) : dayOf(iso)
}

/** A day, with the year if it is another. */
export function dayOf(iso: string): string {
  const date = new Date(iso)
  return date.getFullYear() === new Date().getFullYear() ? day.format(date) : dayOfYear.format(date)
}

/** The heading for a time in a list. */
export function dayGroup(iso: string, now = new Date()): string {
  const date = new Date(iso)
  const midnight = (at: Date) => new Date(at.getFullYear(), at.getMonth(), at.getDate()).getTime()
  const days = Math.round((midnight(now) - midnight(date)) / 86_400_000)
  if (days <= 0) return 'Today'
  if (days === 1) return 'Yesterday'
  return days < 7 ? 'Previous 7 days' : month.format(date)
}

export function share(part: number, all: number): string {
  return all === 0 ? '0 %' : `${Math.round((100 * part) / all)} %`
}

export function plural(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`
}

/** The name and version in a user agent, which begins with them. */
export function clientIn(userAgent: string): string {
  return userAgent.trim().split(/\s/, 1)[0] ?? ''
}
