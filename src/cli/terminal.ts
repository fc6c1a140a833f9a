// What a terminal may be shown. Model and tool output is text from strangers: an escape sequence in it could move the
// cursor, change the clipboard or hide what was said, so control characters are shown as pictures and never sent.

const control = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u202A-\u202E\u2066-\u2069]/g

/** Safe to print: newlines and tabs stay, every other control character becomes visible. Works chunk by chunk. */
export function neutral(text: string): string {
  return text.replaceAll(control, (character) => {
    const code = character.charCodeAt(0)
    return code < 0x20 ? String.fromCharCode(0x2400 + code) : code === 0x7f ? '\u2421' : '\uFFFD'
  })
}

export interface Style {
  dim(text: string): string
  bold(text: string): string
  red(text: string): string
  green(text: string): string
}

/** Colours only on a terminal, and not when NO_COLOR is set. */
export function styleFor(stream: NodeJS.WriteStream, env: NodeJS.ProcessEnv): Style {
  const colours = stream.isTTY && !env['NO_COLOR'] && env['TERM'] !== 'dumb'
  const paint = (open: number, close: number) => (text: string) =>
    colours ? `\u001B[${open}m${text}\u001B[${close}m` : text
  return { dim: paint(2, 22), bold: paint(1, 22), red: paint(31, 39), green: paint(32, 39) }
}
