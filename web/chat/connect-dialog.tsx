// "Connect a provider": a key is typed here once, and stored on this machine by the server. It is never returned.

import { useState } from 'preact/hooks'
import { api } from '../api/routes.ts'
import type { ProviderView } from '../api/types.ts'
import { Dialog } from '../parts/dialog.tsx'
import { announce } from '../state/announce.ts'
import { attempt, loadSession, providers, trouble } from '../state/session.ts'
import { connecting } from '../state/surface.ts'

export function ConnectDialog() {
  const [chosen, setChosen] = useState(() => providers.value.find((one) => one.canStoreKey)?.id ?? '')
  const [key, setKey] = useState('')
  const able = providers.value.filter((one) => one.canStoreKey)
  const provider = able.find((one) => one.id === chosen)

  async function store(): Promise<void> {
    if (!provider || key.trim() === '') return
    trouble.value = undefined
    const isStored = await attempt(async () => {
      await api.storeKey(provider.id, key.trim())
      setKey('')
      await loadSession()
    })
    if (isStored) announce(`Stored the key of ${provider.name}`)
  }

  async function remove(): Promise<void> {
    if (!provider) return
    trouble.value = undefined
    await attempt(async () => {
      await api.removeKey(provider.id)
      await loadSession()
    })
  }

  return (
    <Dialog title="Connect a provider" onClose={() => (connecting.value = false)}>
      <form
        class="settings"
        onSubmit={(event) => {
          event.preventDefault()
          void store()
        }}
      >
        <label>
          Provider
          <select value={chosen} onChange={(event) => setChosen(event.currentTarget.value)}>
            {able.map((one) => (
              <option key={one.id} value={one.id}>
                {one.name}
                {one.key === 'found' ? ' (connected)' : ''}
              </option>
            ))}
          </select>
        </label>
        {provider && <State provider={provider} />}
        <label>
          API key
          <input
            type="password"
            autoComplete="off"
            value={key}
            onInput={(event) => setKey(event.currentTarget.value)}
          />
        </label>
        <p class="hint">
          It is stored in a file on this machine that only you can read, and sent to this provider only.
        </p>
        <div class="buttons">
          {provider?.keyFrom === 'stored' && (
            <button type="button" onClick={() => void remove()}>
              Remove the stored key
            </button>
          )}
          <button type="submit" class="primary" disabled={!provider || key.trim() === ''}>
            Store the key
          </button>
        </div>
      </form>
    </Dialog>
  )
}

function State({ provider }: { provider: ProviderView }) {
  const from = { environment: `found in ${provider.keyVariables[0]}`, stored: 'stored on this machine' }
  return (
    <p class="hint" role="status">
      {provider.keyFrom ? `Connected: the key is ${from[provider.keyFrom]}.` : 'No key yet.'}{' '}
      {provider.keysAt !== undefined && (
        <a href={provider.keysAt} target="_blank" rel="noopener noreferrer">
          Get a key
        </a>
      )}
    </p>
  )
}
