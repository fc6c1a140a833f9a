// A button with an icon: its name is for screen readers and the tooltip.

import { Icon, type IconName } from './icon.tsx'

interface Props {
  icon: IconName
  label: string
  onClick: () => void
  pressed?: boolean
  expanded?: boolean
  disabled?: boolean
  class?: string
}

export function IconButton({ icon, label, onClick, pressed, expanded, disabled, class: className }: Props) {
  return (
    <button
      type="button"
      class={`icon-button ${className ?? ''}`}
      aria-label={label}
      title={label}
      aria-pressed={pressed}
      aria-expanded={expanded}
      disabled={disabled}
      onClick={onClick}
    >
      <Icon name={icon} />
    </button>
  )
}
