// How a model is told that its arguments do not fit: what was wrong, where, and that nothing happened.

export interface Finding {
  path: readonly (string | number)[]
  message: string
}

const most = 10

export function problemOf(name: string, findings: readonly Finding[]): string {
  const lines = [...new Set(findings.map(({ path, message }) => `- ${placeOf(path)}: ${message}`))]
  const more = lines.length > most ? [`- and ${lines.length - most} more`] : []
  return [
    `${name} was not run: its arguments do not fit its schema. Correct them and call it again.`,
    ...lines.slice(0, most),
    ...more,
  ].join('\n')
}

/** `items[2].name`; the arguments as a whole have no name. */
function placeOf(path: Finding['path']): string {
  if (path.length === 0) return 'the arguments'
  return path.map((step, i) => (/^\d+$/.test(String(step)) ? `[${step}]` : `${i > 0 ? '.' : ''}${step}`)).join('')
}
