// Numbers in readable form.

/** 1234567 → 1,234,567. */
export function count(number: number): string {
  return Math.round(number)
    .toString()
    .replaceAll(/\B(?=(\d{3})+$)/g, ',')
}

/** 1234567 → 1.2M; for narrow places. */
export function inShort(number: number): string {
  if (number < 1000) return String(Math.round(number))
  const [size, unit] = number < 999_500 ? [1000, 'k'] : [1_000_000, 'M']
  const amount = number / size
  return `${amount < 9.95 ? amount.toFixed(1).replace(/\.0$/, '') : Math.round(amount)}${unit}`
}

/** Dollars: cents for large sums, two significant digits for small ones. */
export function dollars(sum: number | undefined): string {
  if (sum === undefined) return 'price not known'
  if (sum === 0) return '$0'
  if (sum >= 1) return `$${sum.toFixed(2)}`
  const digits = Math.min(8, Math.max(2, 1 - Math.floor(Math.log10(sum))))
  return `$${sum.toFixed(digits)}`
}

export function percent(part: number, total: number): string {
  return total > 0 ? `${Math.round((100 * part) / total)} %` : ''
}

export function seconds(ms: number): string {
  return ms < 9950 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms / 1000)} s`
}
