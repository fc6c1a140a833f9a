// Files from the user: dropped on a part of the page, or chosen in the dialog of the browser.

import type { RefObject } from 'preact'
import { useState } from 'preact/hooks'

/** Whether files are being dragged over an element, and the handlers that it needs. */
export function useFileDrop(onFiles: (files: File[]) => void) {
  const [isOver, setOver] = useState(false)
  const handlers = {
    onDragOver(event: DragEvent) {
      event.preventDefault()
      setOver(true)
    },
    onDragLeave: () => setOver(false),
    onDrop(event: DragEvent) {
      event.preventDefault()
      setOver(false)
      onFiles([...(event.dataTransfer?.files ?? [])])
    },
  }
  return { isOver, handlers }
}

/** The invisible field that a button opens with `picker.current?.click()`. */
export function FilePicker(props: { picker: RefObject<HTMLInputElement | null>; onFiles: (files: File[]) => void }) {
  return (
    <input
      ref={props.picker}
      type="file"
      multiple
      hidden
      aria-hidden="true"
      tabIndex={-1}
      onChange={({ currentTarget: field }) => {
        // The list of the field is emptied with the field, and the files are read after that.
        const files = [...(field.files ?? [])]
        field.value = ''
        props.onFiles(files)
      }}
    />
  )
}
