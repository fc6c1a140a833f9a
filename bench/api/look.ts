// The tool of the loops: so many characters, other ones for each number.

export const lookSchema = {
  type: 'object',
  properties: { number: { type: 'number' }, size: { type: 'number' } },
  required: ['number', 'size'],
} as const

export interface LookInput {
  number: number
  size: number
}

export function look({ number, size }: LookInput): string {
  const line = `${number}: the deployment of service-${number % 7} failed in src/file-${number}.ts, line ${number * 13}\n`
  return line.repeat(Math.ceil(size / line.length)).slice(0, size)
}
