// A model, and the next request to it: its changes and cost.

import { useEffect, useState } from 'preact/hooks'
import { failureOf } from '../api/client.ts'
import { api } from '../api/routes.ts'
import type { CapabilitiesView, Price, RequestView } from '../api/types.ts'
import { compact, count, money, plural, share } from '../parts/format.ts'
import { current } from '../state/conversation.ts'
import { previewNext } from '../state/inspector.ts'
import { favourites, toggleFavourite } from '../state/model-choice.ts'
import { models, providers, status } from '../state/session.ts'
import { connecting, pickingModel } from '../state/surface.ts'

export function Preview({ model: chosen }: { model: string }) {
  const [preview, setPreview] = useState<RequestView | undefined>()
  const [trouble, setTrouble] = useState('')
  const id = current.value?.id
  const provider = providers.value.find((one) => chosen.startsWith(`${one.id}/`))

  useEffect(() => {
    if (id === undefined || chosen === '') return undefined
    const stop = new AbortController()
    const timer = setTimeout(() => void load(), 120)
    return () => {
      clearTimeout(timer)
      stop.abort()
    }

    async function load(): Promise<void> {
      try {
        const next = await previewNext(id ?? '', chosen, stop.signal)
        if (!stop.signal.aborted) setPreview(next)
      } catch (error) {
        if (!stop.signal.aborted) setTrouble(failureOf(error).message)
      }
    }
  }, [id, chosen])

  return (
    <div class="preview" aria-live="polite">
      <h3>{chosen || 'No model'}</h3>
      <Marks model={chosen} />
      {provider?.key === 'missing' && !status.value?.offline && (
        <p class="warning">
          No key for {provider.name}.{' '}
          {!provider.canStoreKey && `Set ${provider.keyVariables[0]} where the server runs.`}
          {provider.canStoreKey && (
            <button
              type="button"
              class="plain"
              onClick={() => {
                pickingModel.value = false
                connecting.value = true
              }}
            >
              Connect it
            </button>
          )}
        </p>
      )}
      {trouble !== '' && <p class="warning">{trouble}</p>}
      {id === undefined && <p class="hint">The conversation starts with this model.</p>}
      {preview && <Changes request={preview} />}
    </div>
  )
}

function Changes({ request }: { request: RequestView }) {
  const { tokens = 0, cachedTokens: cached = 0, cost, noteGroups: notes = [] } = request
  const { messages, sent } = request.counts ?? { messages: 0, sent: 0 }
  const isWhole = sent === messages && notes.length === 0
  return (
    <>
      <p>
        {isWhole
          ? `All ${plural(messages, 'message')} carry over unchanged`
          : `${count(sent)} of ${plural(messages, 'message')} are sent`}
        , about {compact(tokens)} tokens
        {cost !== undefined && ` (${money(cost)}${cached > 0 ? `, ${share(cached, tokens)} cached` : ''})`}.
      </p>
      {request.issues && request.issues.length > 0 && <p class="warning">The provider would refuse this request.</p>}
      {notes.length > 0 && (
        <>
          <p class="caption">What changes</p>
          <ul class="crossing">
            {notes.map(({ kind, what, why, times }) => (
              <li key={`${kind}${what}${why}`} class={`note ${kind}`}>
                <span class="note-kind">{kind}</span>
                <span>
                  {what}
                  {times > 1 && ` (${times} times)`}
                  <small>{why}</small>
                </span>
              </li>
            ))}
          </ul>
          <p class="hint">The log keeps everything, and a model gets its own messages back in full.</p>
        </>
      )}
    </>
  )
}

/** Window, prices and media of a model, and whether it is a favourite. */
function Marks({ model: chosen }: { model: string }) {
  const [takes, setTakes] = useState<CapabilitiesView | undefined>()
  useEffect(() => {
    let isHere = true
    void load()
    return () => {
      isHere = false
    }

    async function load(): Promise<void> {
      // An unknown model has no marks; the error is shown below.
      const found = chosen === '' ? undefined : await api.capabilities(chosen).catch(() => undefined)
      if (isHere) setTakes(found)
    }
  }, [chosen])
  const listed = models.value.find((one) => one.model === chosen)
  const price = listed?.price as Price | undefined
  const marks = [
    listed?.contextWindow && `${compact(listed.contextWindow)} tokens of context`,
    price && `${money(price.input)} in, ${money(price.output)} out per million tokens`,
    price?.cacheRead !== undefined && `${money(price.cacheRead)} from the cache`,
    takes && mediaWords(takes.media),
    takes && (takes.tools ? 'tools' : 'no tools'),
  ].filter(Boolean)
  const isFavourite = favourites.value.includes(chosen)
  return (
    <>
      <ul class="marks" aria-label="About this model">
        {marks.map((words) => (
          <li key={words}>{words}</li>
        ))}
      </ul>
      {chosen !== '' && (
        <button type="button" class="plain" aria-pressed={isFavourite} onClick={() => void toggleFavourite(chosen)}>
          {isFavourite ? 'Remove from favourites' : 'Add to favourites'}
        </button>
      )}
    </>
  )
}

function mediaWords(media: readonly string[]): string {
  const kinds = ['image', 'audio', 'video'].filter((kind) => media.some((one) => one.startsWith(`${kind}/`)))
  if (media.includes('application/pdf')) kinds.push('PDF')
  return kinds.length === 0 ? 'text only' : `reads text, ${kinds.join(', ')}`
}
