// Tokens as bars (cached, fresh, output) and cost as a line. The table next to it has the same data as text.

import { useEffect, useRef } from 'preact/hooks'

export interface Bar {
  label: string
  cached: number
  fresh: number
  output: number
  cost: number
}

export function Chart({ bars, marks, label }: { bars: Bar[]; marks: number[]; label: string }) {
  const box = useRef<HTMLDivElement>(null)
  const key = JSON.stringify([bars, marks])
  useEffect(() => {
    const place = box.current
    if (!place || bars.length === 0) return undefined
    let stopped = false
    let remove = () => {}
    void load(place)
    return () => {
      stopped = true
      remove()
    }

    async function load(into: HTMLElement): Promise<void> {
      const { draw } = await import('./plot.ts')
      if (!stopped) remove = draw(into, bars, marks)
    }
  }, [key])
  if (bars.length === 0) return <p class="hint">No requests yet.</p>
  return (
    <figure class="chart">
      <div ref={box} role="img" aria-label={`${label}; the table below has the numbers`} />
      <figcaption>
        <span class="key cached">from the cache</span>
        <span class="key fresh">fresh input</span>
        <span class="key output">output</span>
        {bars.some((one) => one.cost > 0) && <span class="key money">cost</span>}
      </figcaption>
    </figure>
  )
}
