// The chart itself, loaded when one is first shown.

import uPlot from 'uplot'
import { compact, money } from '../parts/format.ts'
import type { Bar } from './chart.tsx'

const height = 190

/** Returns a function that removes it. */
export function draw(place: HTMLElement, bars: readonly Bar[], marks: readonly number[]): () => void {
  const colour = coloursIn(place)
  const bar = uPlot.paths.bars?.({ size: [0.6, 42], align: 0 })
  const series = (stroke: string): uPlot.Series => ({
    stroke,
    fill: stroke,
    width: 0,
    points: { show: false },
    ...(bar && { paths: bar }),
  })
  const axis = { stroke: colour('text-soft'), grid: { stroke: colour('line'), width: 1 }, ticks: { show: false } }
  const isPaid = bars.some((one) => one.cost > 0)
  const font = `11px ${getComputedStyle(place).fontFamily}`
  // Later series are drawn over earlier ones: the highest sum first.
  const data: uPlot.AlignedData = [
    bars.map((_, i) => i),
    bars.map((one) => one.cached + one.fresh + one.output),
    bars.map((one) => one.cached + one.fresh),
    bars.map((one) => one.cached),
    bars.map((one) => one.cost),
  ]
  const plot = new uPlot(
    {
      width: Math.max(200, place.clientWidth),
      height,
      legend: { show: false },
      cursor: { show: false },
      scales: {
        x: { time: false, range: [-0.6, Math.max(bars.length, 4) - 0.4] },
        y: { range: (_, __, most) => [0, Math.max(1, most) * 1.08] },
        money: { range: (_, __, most) => [0, Math.max(1e-6, most) * 1.3] },
      },
      axes: [
        { ...axis, font, grid: { show: false }, values: (_, at) => at.map((i) => bars[i]?.label ?? '') },
        { ...axis, font, size: 44, values: (_, at) => at.map(compact) },
        {
          ...axis,
          font,
          size: 58,
          show: isPaid,
          scale: 'money',
          // oxlint-disable-next-line typescript/no-unsafe-enum-assignment -- the enum is only a type
          side: 1,
          grid: { show: false },
          values: (_, at) => at.map(money),
        },
      ],
      series: [
        {},
        series(colour('chart-output')),
        series(colour('chart-fresh')),
        series(colour('chart-cached')),
        {
          show: isPaid,
          scale: 'money',
          stroke: colour('text'),
          width: 1.5,
          points: { show: true, size: 5, fill: colour('text') },
        },
      ],
      hooks: { draw: [(drawn) => drawMarks(drawn, marks, colour('accent'))] },
    },
    data,
    place,
  )
  const observer = new ResizeObserver(() => plot.setSize({ width: Math.max(200, place.clientWidth), height }))
  observer.observe(place)
  return () => {
    observer.disconnect()
    plot.destroy()
  }
}

function drawMarks(plot: uPlot, marks: readonly number[], stroke: string): void {
  const { ctx, bbox } = plot
  ctx.save()
  ctx.strokeStyle = stroke
  ctx.setLineDash([6, 5])
  for (const mark of marks) {
    const x = Math.round(plot.valToPos(mark, 'x', true))
    ctx.beginPath()
    ctx.moveTo(x, bbox.top)
    ctx.lineTo(x, bbox.top + bbox.height)
    ctx.stroke()
  }
  ctx.restore()
}

/** A canvas cannot read CSS variables: an element provides their values. */
function coloursIn(place: HTMLElement): (name: string) => string {
  return (name) => {
    const probe = document.createElement('span')
    probe.className = `probe-${name}`
    place.append(probe)
    const { color } = getComputedStyle(probe)
    probe.remove()
    return color
  }
}
