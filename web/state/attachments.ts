// The files of the next message, by button, paste or drop.

import { signal } from '@preact/signals'
import type { MediaPart } from '../api/types.ts'
import { trouble } from './session.ts'

export interface Attachment {
  id: number
  name: string
  size: number
  /** UTF-8: every model reads it. */
  isText: boolean
  part: MediaPart
}

export const attachments = signal<Attachment[]>([])

/** The server accepts 20 MiB in one request, and base64 adds a third. */
const mostBytes = 14 * 1024 * 1024
/** The server's limit for names. A longer one is cut in front, because its end shows the type. */
const longestName = 200

let attached = 0

export async function attach(files: readonly File[]): Promise<void> {
  for (const file of files) {
    const all = attachments.value.reduce((sum, one) => sum + one.size, file.size)
    if (all > mostBytes) {
      trouble.value = {
        kind: 'too-large',
        message: `${file.name} is too large: the files of a message are limited to 14 MB in total.`,
      }
      continue
    }
    const bytes = await file.arrayBuffer().then(
      (read) => new Uint8Array(read),
      () => undefined,
    )
    if (bytes === undefined) {
      trouble.value = { kind: 'bad-input', message: `${file.name} cannot be read. A folder cannot be attached.` }
      continue
    }
    const part: MediaPart = {
      type: 'media',
      mediaType: typeOf(file),
      data: { kind: 'base64', base64: base64Of(bytes) },
      ...(file.name && { name: file.name.slice(-longestName) }),
    }
    const attachment = {
      id: ++attached,
      name: file.name || part.mediaType,
      size: file.size,
      isText: isText(bytes),
      part,
    }
    attachments.value = [...attachments.value, attachment]
  }
}

export function removeAttachment(id: number): void {
  attachments.value = attachments.value.filter((one) => one.id !== id)
}

/** Browsers have no type for most source files. */
function typeOf(file: File): string {
  if (/^[a-z]+\/[A-Za-z0-9.+-]+$/.test(file.type)) return file.type
  return /\.(md|txt|csv|json|ya?ml|ts|tsx|js|py|go|rs|sh|sql|html|css)$/i.test(file.name)
    ? 'text/plain'
    : 'application/octet-stream'
}

/** Like the server: valid UTF-8 without a null character. */
function isText(bytes: Uint8Array): boolean {
  try {
    return !new TextDecoder('utf-8', { fatal: true }).decode(bytes).includes('\u0000')
  } catch {
    return false
  }
}

function base64Of(bytes: Uint8Array): string {
  let binary = ''
  for (let i = 0; i < bytes.length; i += 32_768) binary += String.fromCharCode(...bytes.subarray(i, i + 32_768))
  return btoa(binary)
}
