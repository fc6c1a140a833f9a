// What coding agents write in tags around a question, such as the time or a reminder of theirs.

/** Blocks such as `<current_datetime>…</current_datetime>`, each of which ends at the end of a line. */
const leadingBlocks = /^(?:\s*<([a-z][\w-]*)>[^]*?<\/\1>[ \t]*(?=\n|$))+/i

/** The text without the blocks at its beginning; empty if there is nothing else. */
export function afterTaggedBlocks(text: string): string {
  return text.replace(leadingBlocks, '').trim()
}
