// Names in the path of a request.

/** A name that is not encoded as it should be is used as it is: it is the name of nothing. */
export function decodedName(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
