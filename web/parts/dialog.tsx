// A modal dialog: the browser's own, which keeps the focus inside and restores it.

import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { trouble } from '../state/session.ts'
import { IconButton } from './icon-button.tsx'
import { Trouble } from './error-notice.tsx'

interface Props {
  title: string
  onClose: () => void
  class?: string
  children: ComponentChildren
}

export function Dialog({ title, onClose, class: className, children }: Props) {
  const dialog = useRef<HTMLDialogElement>(null)
  useLayoutEffect(() => {
    const back = document.activeElement
    dialog.current?.showModal()
    dialog.current?.querySelector<HTMLElement>('form :is(input, textarea)')?.focus()
    return () => {
      // The error was shown in this dialog and belongs to it.
      trouble.value = undefined
      // After the dialog is closed: until then nothing outside of it can have the focus.
      queueMicrotask(() => back instanceof HTMLElement && back.isConnected && back.focus())
    }
  }, [])
  return (
    <dialog
      ref={dialog}
      class={`dialog ${className ?? ''}`}
      aria-label={title}
      onClose={onClose}
      onClick={(event) => event.target === dialog.current && onClose()}
    >
      <div class="dialog-body">
        <header>
          <h2>{title}</h2>
          <IconButton icon="close" label="Close" onClick={onClose} />
        </header>
        {children}
        <Trouble />
      </div>
    </dialog>
  )
}

/** A dialog with a form. */
export function FormDialog({
  onSave,
  save = 'Save',
  children,
  ...rest
}: Props & { onSave: () => void; save?: string }) {
  return (
    <Dialog {...rest}>
      <form
        class="settings"
        onSubmit={(event) => {
          event.preventDefault()
          onSave()
        }}
      >
        {children}
        <div class="buttons">
          <button type="button" onClick={rest.onClose}>
            Cancel
          </button>
          <button type="submit" class="primary">
            {save}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
