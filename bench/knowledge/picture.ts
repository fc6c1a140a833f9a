// The frontier as a picture: what a policy costs against what its requests still know.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { settingsOf } from '../../src/settings/policy.ts'

export interface Point {
  name: string
  /** Relative to the full history with a cache. */
  cost: number
  recall: number
  isOurs: boolean
  /** One of a row of points that are drawn as a line, with this label. */
  short?: string
}

const file = join(import.meta.dirname, '..', '..', 'docs', 'images', 'knowledge.svg')
const [width, height, left, top, right, bottom] = [760, 440, 70, 30, 30, 60]

export function drawFrontier(points: readonly Point[]): void {
  const least = Math.min(0.9, Math.floor(Math.min(...points.map((point) => point.recall)) * 20) / 20)
  const x = (cost: number) => Math.round(left + ((cost - 0.2) / 0.85) * (width - left - right))
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
    ...frontier(points.filter((point) => point.short !== undefined)),
    ...points
      .filter((point) => point.short === undefined)
      .map(({ name, cost, recall, isOurs }) => {
        const isRight = cost > 0.82
        const label = text(x(cost) + (isRight ? -9 : 9), y(recall) + 18, name, isRight ? 'end' : 'start')
        return dot(x(cost), y(recall), isOurs) + label
      }),
    '</svg>',
  ]
  function frontier(row: readonly Point[]): string[] {
    const sorted = row.toSorted((one, other) => one.cost - other.cost)
    const path = sorted.map((point) => `${x(point.cost)},${y(point.recall)}`).join(' ')
    const last = sorted.at(-1)
    return [
      `<polyline points="${path}" fill="none" stroke="${ours}"/>`,
      ...sorted.map(
        ({ cost, recall, short = '' }, i) =>
          dot(x(cost), y(recall), true) + text(x(cost), y(recall) + (i % 2 === 0 ? 18 : -9), short, 'middle'),
      ),
      ...(last
        ? [
            text(
              x(last.cost) + 9,
              y(last.recall) - 9,
              `economy, by tool turns kept whole (default: ${settingsOf('economy').maxToolTurns})`,
              'start',
            ),
          ]
        : []),
    ]
  }

  writeFileSync(file, `${lines.join('\n')}\n`)
}

const ours = '#0b6e4f'
const others = '#b3541e'

function dot(cx: number, cy: number, isOurs: boolean): string {
  return `<circle cx="${cx}" cy="${cy}" r="4" fill="${isOurs ? ours : others}"/>`
}

function line(x1: number, y1: number, x2: number, y2: number): string {
  return `<line x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}" stroke="#e3e3e3"/>`
}

function text(x: number, y: number, words: string, anchor: string): string {
  return `<text x="${x}" y="${y}" text-anchor="${anchor}" fill="#444">${words}</text>`
}
