// From lines to messages. A line that ends in a backslash continues on the next one; `"""` starts and ends a multi-line
// message.

export interface TypedMessage {
  /** The message, once it is complete. `hasMore`: more will follow, as in the middle of a paste. */
  push(line: string, hasMore?: boolean): string | undefined
  /** The current text, when nothing more comes. */
  rest(): string | undefined
  readonly open: boolean
}

const quotes = '"""'

export function typedMessage(): TypedMessage {
  let lines: string[] = []
  let quoted = false

  return {
    push(line, hasMore = false) {
      const text = !quoted && lines.length === 0 && line.trimStart().startsWith(quotes) ? opened(line) : line
      if (quoted) {
        if (!text.trimEnd().endsWith(quotes)) return keep(text)
        quoted = false
        const last = text.trimEnd().slice(0, -quotes.length)
        return whole(last === '' ? [] : [last])
      }
      if (hasMore) return keep(text)
      const backslashes = /\\*$/.exec(text)?.[0].length ?? 0
      return backslashes % 2 === 1 ? keep(text.slice(0, -1)) : whole([text])
    },
    rest: () => (lines.length > 0 ? whole([]) : undefined),
    get open() {
      return quoted || lines.length > 0
    },
  }

  function opened(line: string): string {
    quoted = true
    return line.trimStart().slice(quotes.length)
  }

  function keep(line: string): undefined {
    // The line of the opening quotes is usually empty.
    if (lines.length > 0 || line !== '' || !quoted) lines.push(line)
    return undefined
  }

  function whole(last: readonly string[]): string {
    const text = [...lines, ...last].join('\n')
    lines = []
    quoted = false
    return text
  }
}
