// A piece of Markdown on the page: a text, or a signal of one that is still growing.

import { effect, type ReadonlySignal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { markdownIn } from './stream.ts'

/** The time between two renderings of a growing text; longer texts are rendered less often. */
const leastMs = 40

export function Markdown({ text }: { text: string | ReadonlySignal<string> }) {
  const box = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    if (!box.current) return undefined
    const view = markdownIn(box.current)
    if (typeof text === 'string') {
      view.show(text)
      return undefined
    }
    let timer: ReturnType<typeof setTimeout> | undefined
    let latest = text.peek()
    view.show(latest)
    const stop = effect(() => {
      latest = text.value
      timer ??= setTimeout(show, leastMs + latest.length / 1000)
    })
    return () => {
      stop()
      clearTimeout(timer)
    }

    function show(): void {
      timer = undefined
      view.show(latest)
    }
  }, [text])
  return <div class="markdown" ref={box} />
}
