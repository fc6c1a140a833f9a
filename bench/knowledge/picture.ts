// The frontier as a picture: what a policy costs against what its requests still know.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Point {
  name: string
  /** Relative to the full history with a cache. */
  cost: number
  recall: number
  isOurs: boolean
}

const file = join(import.meta.dirname, '..', '..', 'docs', 'images', 'knowledge.svg')
const [width, height, left, top, right, bottom] = [760, 440, 70, 30, 30, 60]

export function drawFrontier(points: readonly Point[]): void {
  const least = Math.min(0.9, Math.floor(Math.min(...points.map((point) => point.recall)) * 20) / 20)
  const x = (cost: number) => Math.round(left + ((cost - 0.25) / 0.8) * (width - left - right))
  const y = (recall: number) => Math.round(top + ((1 - recall) / (1 - least)) * (height - top - bottom))
  const grid = Array.from({ length: Math.round((1 - least) / 0.05) + 1 }, (_, i) => 1 - i * 0.05)
  const costs = [0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1]
  const lines = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="12">`,
    '<title>Cost of a policy against what its requests still know</title>',
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    ...grid.map(
      (recall) =>
        line(left, y(recall), width - right, y(recall)) + text(left - 8, y(recall) + 4, recall.toFixed(2), 'end'),
    ),
    ...costs.map(
      (cost) =>
        line(x(cost), top, x(cost), height - bottom) + text(x(cost), height - bottom + 18, cost.toFixed(1), 'middle'),
    ),
    text((left + width - right) / 2, height - 16, 'cost / full history with a cache (Anthropic, 5 minutes)', 'middle'),
    `<text transform="translate(18 ${(top + height - bottom) / 2}) rotate(-90)" text-anchor="middle" fill="#444">needed-later recall</text>`,
    ...points.map(({ name, cost, recall, isOurs }, i) => {
      const [cx, cy] = [x(cost), y(recall)]
      const color = isOurs ? '#0b6e4f' : '#b3541e'
      const isRight = cost > 0.8
      const label = text(cx + (isRight ? -9 : 9), cy + (i % 2 === 0 ? -6 : 14), name, isRight ? 'end' : 'start')
      return `<circle cx="${cx}" cy="${cy}" r="5" fill="${color}"/>${label}`
    }),
    '</svg>',
  ]
  writeFileSync(file, `${lines.join('\n')}\n`)
}

function line(x1: number, y1: number, x2: number, y2: number): string {
  return `<line x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}" stroke="#e3e3e3"/>`
}

function text(x: number, y: number, words: string, anchor: string): string {
  return `<text x="${x}" y="${y}" text-anchor="${anchor}" fill="#444">${words}</text>`
}
