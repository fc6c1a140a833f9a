// Media as content of user messages and of tool outputs: both use the same parts here.

import type { JsonObject } from '../../core/json.ts'
import type { MediaPart } from '../../core/message.ts'
import { dataUrl, takesMedia } from '../shared/media.ts'
import type { Target } from '../wire.ts'

/** The content part for a medium, or undefined if the target does not support it. */
export function writeMedia(part: MediaPart, patterns: readonly string[], target: Target): JsonObject | undefined {
  if (!takesMedia(patterns, part.mediaType)) return undefined
  const { data } = part
  const isImage = part.mediaType.startsWith('image/')
  switch (data.kind) {
    case 'base64': {
      const url = dataUrl(part.mediaType, data.base64)
      if (isImage) return { type: 'input_image', image_url: url, detail: 'auto' }
      return { type: 'input_file', filename: part.name ?? defaultName(part.mediaType), file_data: url }
    }
    case 'url':
      if (!target.capabilities.mediaUrls) return undefined
      if (isImage) return { type: 'input_image', image_url: data.url, detail: 'auto' }
      return { type: 'input_file', file_url: data.url }
    case 'file':
      if (data.provider !== target.provider) return undefined
      if (isImage) return { type: 'input_image', file_id: data.fileId, detail: 'auto' }
      return { type: 'input_file', file_id: data.fileId }
    case 'blob':
      return undefined
  }
}

/** The server reads the type of a file from its name, so a file without one gets one. */
function defaultName(mediaType: string): string {
  const subtype = mediaType.slice(mediaType.indexOf('/') + 1)
  const extension = subtype === 'plain' ? 'txt' : subtype === 'markdown' ? 'md' : /^[a-z0-9]{1,5}$/.exec(subtype)?.[0]
  return extension ? `file.${extension}` : 'file'
}
