// The error for a model whose arguments are not valid: what was wrong, where, and that nothing happened.

export interface Finding {
  path: readonly (string | number)[]
  message: string
}

const most = 10

export function problemOf(name: string, findings: readonly Finding[]): string {
  const lead = `${name} was not run: its arguments do not fit its schema. Correct them and call it again.`
  return listed(lead, findings, 'the arguments')
}

/** A sentence, and each finding on its own line; `whole` names the subject of a finding without a path. */
export function listed(lead: string, findings: readonly Finding[], whole: string): string {
  const lines = [...new Set(findings.map(({ path, message }) => `- ${placeOf(path, whole)}: ${message}`))]
  const more = lines.length > most ? [`- and ${lines.length - most} more`] : []
  return [lead, ...lines.slice(0, most), ...more].join('\n')
}

/** `items[2].name`. */
function placeOf(path: Finding['path'], whole: string): string {
  if (path.length === 0) return whole
  return path.map((step, i) => (/^\d+$/.test(String(step)) ? `[${step}]` : `${i > 0 ? '.' : ''}${step}`)).join('')
}
