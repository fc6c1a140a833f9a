// A button that opens a list of actions. Arrow keys move, Escape closes, and the focus returns to the button.

import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Icon, type IconName } from './icon.tsx'

export interface MenuItem {
  label: string
  run: () => void
  /** A file to save instead of an action. */
  href?: string
  danger?: boolean
}

export function Menu({ label, icon, items }: { label: string; icon: IconName; items: MenuItem[] }) {
  const [open, setOpen] = useState(false)
  const box = useRef<HTMLDivElement>(null)
  const entries = () => [...(box.current?.querySelectorAll<HTMLElement>('[role=menuitem]') ?? [])]

  useLayoutEffect(() => {
    if (!open) return undefined
    entries()[0]?.focus()
    const away = (event: PointerEvent) => {
      if (event.target instanceof Node && !box.current?.contains(event.target)) setOpen(false)
    }
    document.addEventListener('pointerdown', away)
    return () => document.removeEventListener('pointerdown', away)
  }, [open])

  function close(): void {
    setOpen(false)
    box.current?.querySelector('button')?.focus()
  }

  function move(event: KeyboardEvent): void {
    const all = entries()
    const at = all.findIndex((entry) => entry === document.activeElement)
    const to = { ArrowDown: at + 1, ArrowUp: at - 1 + all.length, Home: 0, End: all.length - 1 }[event.key]
    if (event.key === 'Escape') close()
    else if (event.key === 'Tab') setOpen(false)
    else if (to !== undefined) all[to % all.length]?.focus()
    else return
    if (event.key !== 'Tab') event.preventDefault()
  }

  return (
    <div class="menu" ref={box}>
      <button
        type="button"
        class="icon-button"
        aria-label={label}
        title={label}
        aria-haspopup="menu"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
      >
        <Icon name={icon} />
      </button>
      {open && (
        <div role="menu" aria-label={label} class="menu-list" onKeyDown={move}>
          {items.map((item) =>
            item.href === undefined ? (
              <button
                key={item.label}
                type="button"
                role="menuitem"
                tabIndex={-1}
                class={item.danger ? 'danger' : ''}
                onClick={() => {
                  close()
                  item.run()
                }}
              >
                {item.label}
              </button>
            ) : (
              <a
                key={item.label}
                role="menuitem"
                tabIndex={-1}
                href={item.href}
                download
                onClick={() => setOpen(false)}
              >
                {item.label}
              </a>
            ),
          )}
        </div>
      )}
    </div>
  )
}
