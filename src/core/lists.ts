// Long lists of objects that are compared by identity, such as those of two requests of one conversation.

/**
 * How many elements two lists have in common at their beginning, `b` from an index on. `Object.is`, because `===` reads
 * the objects too: they are scattered over the memory, and reading thousands of them takes four times as long.
 */
export function sharedLength(a: readonly unknown[], b: readonly unknown[], from = 0): number {
  const end = Math.min(a.length, b.length - from)
  let shared = 0
  while (shared < end && Object.is(a[shared], b[from + shared])) shared++
  return shared
}

/** `from`: where in the list it is looked for. */
export function beginsWith(list: readonly unknown[], beginning: readonly unknown[], from = 0): boolean {
  return sharedLength(beginning, list, from) === beginning.length
}

/** Each element with the first one after it that fits. */
export function withNext<T>(list: readonly T[], fits: (one: T) => boolean): { one: T; next: T | undefined }[] {
  let next: T | undefined
  const reversed = list.toReversed().map((one) => {
    const found = { one, next }
    if (fits(one)) next = one
    return found
  })
  return reversed.toReversed()
}
