// An attachment or an image by a model. Bytes of the log are shown; a remote URL is a link. The bytes are fetched
// explicitly: an image element could not send a key.

import { useEffect, useState } from 'preact/hooks'
import { reach } from '../api/client.ts'
import { paths } from '../api/routes.ts'
import type { MediaPart } from '../api/types.ts'
import { hostOf } from '../markdown/decorate.ts'
import { safeType } from './media-type.ts'

const shownTypes = /^image\/(png|jpeg|gif|webp)$/

export function Media({ part }: { part: MediaPart }) {
  const { data, mediaType } = part
  const name = part.name ?? mediaType
  if (data.kind === 'url') {
    return (
      <p class="attachment">
        {/^https?:/i.test(data.url) ? (
          <a href={data.url} target="_blank" rel="noopener noreferrer nofollow">
            {name}
            <span class="host">{hostOf(data.url)}</span>
          </a>
        ) : (
          name
        )}
      </p>
    )
  }
  if (data.kind === 'file') return <p class="attachment">{`${name}, a file at ${data.provider}`}</p>
  if (data.kind === 'blob') return <Stored sha256={data.sha256} mediaType={mediaType} name={name} />
  return <Shown source={`data:${safeType(mediaType)};base64,${data.base64}`} mediaType={mediaType} name={name} />
}

function Stored({ sha256, mediaType, name }: { sha256: string; mediaType: string; name: string }) {
  const [source, setSource] = useState('')
  useEffect(() => {
    const stop = new AbortController()
    let made = ''
    void load()
    return () => {
      stop.abort()
      URL.revokeObjectURL(made)
    }

    async function load(): Promise<void> {
      try {
        const answer = await reach('GET', paths.blob(sha256), { signal: stop.signal })
        if (!answer.ok) return
        made = URL.createObjectURL(new Blob([await answer.arrayBuffer()], { type: safeType(mediaType) }))
        setSource(made)
      } catch {
        // The name stays: an attachment that cannot be shown must not disturb the conversation.
      }
    }
  }, [sha256, mediaType])
  return <Shown source={source} mediaType={mediaType} name={name} />
}

function Shown({ source, mediaType, name }: { source: string; mediaType: string; name: string }) {
  if (source !== '' && shownTypes.test(mediaType)) return <img class="media" src={source} alt={name} />
  return (
    <p class="attachment">
      {source === '' ? (
        name
      ) : (
        <a href={source} download={name}>
          {name}
        </a>
      )}
    </p>
  )
}
