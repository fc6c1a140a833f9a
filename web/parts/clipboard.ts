// Copying. Browsers have no clipboard for a page without TLS from another machine.

/** Whether it was allowed. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return false
  }
}
