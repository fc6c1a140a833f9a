// The connection to the server. If it requires a key, the key stays in this tab: it is never in a URL or a cookie.

import { signal } from '@preact/signals'
import type { Failure } from './types.ts'

const keyName = 'synapse-key'

/** The server requires a key and got none, or an invalid one. */
export const keyWanted = signal(false)

export class ApiError extends Error {
  readonly failure: Failure

  constructor(failure: Failure) {
    super(failure.message)
    this.failure = failure
  }
}

export function hasKey(): boolean {
  return sessionStorage.getItem(keyName) !== null
}

export function useKey(key: string): void {
  sessionStorage.setItem(keyName, key.trim())
  keyWanted.value = false
}

export interface CallOptions {
  body?: unknown
  headers?: Record<string, string>
  signal?: AbortSignal
}

export async function call<T>(method: string, path: string, options: CallOptions = {}): Promise<T> {
  const answer = await reach(method, path, options)
  if (!answer.ok) throw await refused(answer)
  return (answer.status === 204 ? undefined : await answer.json()) as T
}

/** The raw response; throws only if the server cannot be reached. */
export async function reach(method: string, path: string, options: CallOptions = {}): Promise<Response> {
  const key = sessionStorage.getItem(keyName)
  const headers: Record<string, string> = { accept: 'application/json', ...options.headers }
  if (key) headers['authorization'] = `Bearer ${key}`
  if (options.body !== undefined) headers['content-type'] = 'application/json'
  try {
    const answer = await fetch(path, {
      method,
      headers,
      cache: 'no-store',
      ...(options.body !== undefined && { body: JSON.stringify(options.body) }),
      ...(options.signal && { signal: options.signal }),
    })
    // A key that was entered since is not asked for again.
    if (answer.status === 401 && key === sessionStorage.getItem(keyName)) keyWanted.value = true
    return answer
  } catch (error) {
    if (options.signal?.aborted) throw error
    throw new ApiError({ kind: 'network', message: 'The Synapse server does not answer. Is it still running?' })
  }
}

export async function refused(answer: Response): Promise<ApiError> {
  const body = (await answer.json().catch(() => undefined)) as { error?: Failure } | undefined
  const failure = body?.error ?? { kind: 'internal', message: `The server answered ${answer.status}.` }
  return new ApiError({ ...failure, status: answer.status })
}

export function failureOf(error: unknown): Failure {
  if (error instanceof ApiError) return error.failure
  return { kind: 'internal', message: error instanceof Error ? error.message : String(error) }
}
