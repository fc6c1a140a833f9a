// What a terminal showed, as an animated SVG: each line appears at its time, the screen scrolls, and the last state
// stays. Understands text and colours (SGR); the commands that are recorded print nothing else into a pipe.

export interface Shown {
  /** Milliseconds, on any clock. */
  at: number
  text: string
}

interface Line {
  /** In seconds from the beginning of the picture. */
  at: number
  text: string
}

/** A colour, or a character; a colour, or a run of text. */
// oxlint-disable-next-line no-control-regex -- colours begin with it
const characters = /\u001B\[[\d;]*m|./gsu
// oxlint-disable-next-line no-control-regex -- colours begin with it
const stretches = /\u001B\[([\d;]*)m|([^\u001B]+)/g

const line = 19
const character = 8.43
const margin = 16
/** Pauses are shortened, and bursts are slowed down, for a human reader. */
const longestPause = 1.6
const shortestPause = 0.07

export function terminalPicture(shown: readonly Shown[], screen: { columns: number; rows: number }): string {
  const lines = timed(shown, screen.columns)
  const width = Math.round(screen.columns * character + 2 * margin)
  const height = screen.rows * line + 2 * margin
  const end = (lines.at(-1)?.at ?? 0) + 4
  const texts = lines.map(({ at, text }, index) => {
    const y = margin + (index + 1) * line - 5
    return `<text x="${margin}" y="${y}" style="animation-delay:${at.toFixed(2)}s">${coloured(text)}</text>`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="A recorded terminal session of Synapse">
<style>
rect{fill:#17181c}
text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#e4e2dd;white-space:pre;visibility:hidden;animation:show 0s linear forwards}
.b{font-weight:600}.d{fill:#8d8b86}.r{fill:#ee7b70}.g{fill:#7cc48a}.y{fill:#dcb862}.c{fill:#76bfd0}.m{fill:#c594d6}.u{fill:#86a8ef}
#screen{animation:scroll ${end.toFixed(2)}s step-end forwards}
@keyframes show{to{visibility:visible}}
@keyframes scroll{${scrolling(lines, screen.rows, end)}}
@media (prefers-reduced-motion:reduce){text{animation-delay:0s!important}#screen{animation-duration:0s}}
</style>
<clipPath id="window"><rect x="0" y="${margin}" width="${width}" height="${height - 2 * margin}"/></clipPath>
<rect width="${width}" height="${height}" rx="8"/>
<g clip-path="url(#window)"><g id="screen">
${texts.join('\n')}
</g></g>
</svg>
`
}

/** The lines with the time at which each of them began to be written. */
function timed(shown: readonly Shown[], columns: number): Line[] {
  const lines: Line[] = []
  let open: Line | undefined
  let clock = 0
  let before = shown[0]?.at ?? 0
  for (const { at, text } of shown) {
    clock += Math.min((at - before) / 1000, longestPause)
    before = at
    for (const [index, piece] of text.split('\n').entries()) {
      if (index > 0) {
        if (open) lines.push(...wrapped(open, columns))
        open = undefined
        clock += shortestPause
      }
      open ??= { at: clock, text: '' }
      open.text += piece
    }
  }
  return open?.text ? [...lines, ...wrapped(open, columns)] : lines
}

function wrapped({ at, text }: Line, columns: number): Line[] {
  const rows: string[] = []
  let row = ''
  let width = 0
  for (const [token] of text.matchAll(characters)) {
    if (!token.startsWith('\u001B') && width === columns) {
      rows.push(row)
      row = ''
      width = 0
    }
    row += token
    if (!token.startsWith('\u001B')) width++
  }
  return [...rows, row].map((one) => ({ at, text: one }))
}

function scrolling(lines: readonly Line[], rows: number, end: number): string {
  const steps = lines.slice(rows).map(({ at }, index) => {
    return `${((at / end) * 100).toFixed(3)}%{transform:translateY(-${(index + 1) * line}px)}`
  })
  const last = Math.max(0, lines.length - rows) * line
  return `0%{transform:none}${steps.join('')}100%{transform:translateY(-${last}px)}`
}

const classes: Record<string, string> = {
  1: 'b',
  2: 'd',
  31: 'r',
  32: 'g',
  33: 'y',
  34: 'u',
  35: 'm',
  36: 'c',
  90: 'd',
}

function coloured(text: string): string {
  let open: string[] = []
  let result = ''
  for (const [, codes, plain] of text.matchAll(stretches)) {
    if (plain !== undefined) {
      const written = plain.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
      result += open.length > 0 ? `<tspan class="${open.join(' ')}">${written}</tspan>` : written
      continue
    }
    for (const code of (codes || '0').split(';')) {
      const name = classes[code]
      if (name) open = open.concat(name)
      else open = code === '22' ? open.filter((one) => one !== 'b' && one !== 'd') : []
    }
  }
  return result
}
