// Where Go's reader of base64 stops: an image given as a URL is not refused as such, it is read as base64 and fails at
// the first colon. Line breaks inside are skipped; padding is required.

/** The offset that the error names, or undefined where the text is sound. */
export function base64Fault(text: string): number | undefined {
  const stop = text.search(/[^A-Za-z0-9+/\r\n]/)
  const head = stop < 0 ? text : text.slice(0, stop)
  const inGroup = (/[\r\n]/.test(head) ? head.replaceAll(/[\r\n]/g, '') : head).length % 4
  if (stop < 0) return inGroup === 0 ? undefined : text.length - inGroup
  return text.charAt(stop) === '=' ? paddingFault(text, stop, inGroup) : stop
}

/** `at` is where the first `=` stands. */
function paddingFault(text: string, at: number, inGroup: number): number | undefined {
  if (inGroup < 2) return at
  let next = afterBreaks(text, at + 1)
  if (inGroup === 2) {
    if (next >= text.length) return text.length
    if (text.charAt(next) !== '=') return next
    next = afterBreaks(text, next + 1)
  }
  return next < text.length ? next : undefined
}

function afterBreaks(text: string, from: number): number {
  let at = from
  while (text.charAt(at) === '\n' || text.charAt(at) === '\r') at++
  return at
}
