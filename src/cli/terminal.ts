// Safe terminal output. Model and tool output is untrusted: an escape sequence in it could move the cursor, change the
// clipboard or hide text, so control characters are shown as symbols and never sent.

const control = /[[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]--[\t\n]]/gv

/** What `styleFor` writes, and nothing else. */
// oxlint-disable-next-line no-control-regex -- it is what is looked for
const ownStyle = /(\u001B\[(?:1|2|3|4|22|23|24|31|32|33|36|39)m)/

/** Safe to print: newlines and tabs stay, every other control character becomes visible. Works chunk by chunk. */
export function neutral(text: string): string {
  return text.replaceAll(control, (character) => {
    const code = character.charCodeAt(0)
    return code < 0x20 ? String.fromCharCode(0x2400 + code) : code === 0x7f ? '\u2421' : '\uFFFD'
  })
}

/** Text for a terminal: like `neutral`, but the bold, dim and coloured text of `styleFor` stays. */
export function printable(text: string): string {
  if (!text.includes('\u001B')) return neutral(text)
  return text
    .split(ownStyle)
    .map((piece, i) => (i % 2 === 1 ? piece : neutral(piece)))
    .join('')
}

/** Like `neutral`, on one line, with runs of white space as one blank. */
export function neutralLine(text: string): string {
  return neutral(text.replaceAll(/\s+/g, ' ').trim())
}

export interface Style {
  dim: (text: string) => string
  bold: (text: string) => string
  red: (text: string) => string
  green: (text: string) => string
  yellow: (text: string) => string
  cyan: (text: string) => string
  italic: (text: string) => string
  underline: (text: string) => string
}

/** Colours only on a terminal, and not when NO_COLOR is set. */
export function styleFor(stream: NodeJS.WriteStream, env: NodeJS.ProcessEnv): Style {
  const colours = stream.isTTY && !env['NO_COLOR'] && env['TERM'] !== 'dumb'
  const paint = (open: number, close: number) => (text: string) =>
    colours && text !== '' ? `\u001B[${open}m${text}\u001B[${close}m` : text
  return {
    dim: paint(2, 22),
    bold: paint(1, 22),
    red: paint(31, 39),
    green: paint(32, 39),
    yellow: paint(33, 39),
    cyan: paint(36, 39),
    italic: paint(3, 23),
    underline: paint(4, 24),
  }
}

/** How many columns a line may have; unlimited if it is not a terminal. */
export function widthOf(stream: NodeJS.WriteStream): number {
  return stream.isTTY && stream.columns > 0 ? stream.columns : Infinity
}

// Wide on every terminal: Hangul, kana, ideographs, full-width forms, most emoji.
const wide =
  /[\u1100-\u115F\u2E80-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6]|\p{Emoji_Presentation}/u
const narrowest = /\p{Mn}|\p{Me}|\u200B|\u200D|\uFE0F/u

/** Columns that a text takes, if it has no control characters. */
export function columnsOf(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length
  let columns = 0
  for (const character of text) columns += narrowest.test(character) ? 0 : wide.test(character) ? 2 : 1
  return columns
}

/** At most `width` columns of a text, with an ellipsis where something is left out. */
export function clip(text: string, width: number): string {
  // No character takes more than two.
  if (text.length * 2 <= width || columnsOf(text) <= width) return text
  let clipped = ''
  let columns = 1
  for (const character of text) {
    columns += columnsOf(character)
    if (columns > width) break
    clipped += character
  }
  return width < 1 ? '' : `${clipped}…`
}
