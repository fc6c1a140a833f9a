// AWS Signature Version 4 of one request. Only `host`, `content-type` and `x-amz-*` are signed: headers that a proxy
// may change are not.

import { createHash, createHmac } from 'node:crypto'
import type { Outgoing } from './authorizer.ts'

export interface AwsKeys {
  accessKeyId: string
  secretAccessKey: string
  sessionToken?: string
  /** Milliseconds since 1970; absent: they do not expire. */
  expiresAt?: number
}

export interface SigningScope {
  region: string
  service: string
}

/** The headers to send with the request, in addition to its own. */
export function signature(request: Outgoing, keys: AwsKeys, scope: SigningScope, now: number): Record<string, string> {
  const { region, service } = scope
  const url = new URL(request.url)
  const stamp = new Date(now).toISOString().replaceAll(/[-:]|\.\d{3}/g, '')
  const day = stamp.slice(0, 8)
  const added: Record<string, string> = {
    'x-amz-date': stamp,
    'x-amz-content-sha256': sha256(request.body),
    ...(keys.sessionToken !== undefined && { 'x-amz-security-token': keys.sessionToken }),
  }
  const headers = Object.entries({ ...lowerCase(request.headers), host: url.host, ...added })
    .filter(([name]) => name === 'host' || name === 'content-type' || name.startsWith('x-amz-'))
    .map(([name, value]): [string, string] => [name, value.trim().replaceAll(/\s+/g, ' ')])
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
  const names = headers.map(([name]) => name).join(';')
  const canonical = [
    request.method,
    canonicalPath(url.pathname),
    canonicalQuery(url.searchParams),
    ...headers.map(([name, value]) => `${name}:${value}`),
    '',
    names,
    added['x-amz-content-sha256'],
  ].join('\n')
  const credential = `${day}/${region}/${service}/aws4_request`
  const text = ['AWS4-HMAC-SHA256', stamp, credential, sha256(canonical)].join('\n')
  const key = [day, region, service, 'aws4_request'].reduce<Buffer | string>(
    (secret, part) => hmac(secret, part),
    `AWS4${keys.secretAccessKey}`,
  )
  const signed = hmac(key, text).toString('hex')
  const authorization = `AWS4-HMAC-SHA256 Credential=${keys.accessKeyId}/${credential}, SignedHeaders=${names}, Signature=${signed}`
  return { ...added, authorization }
}

/** Every segment of the path as sent, percent-encoded once more. */
function canonicalPath(path: string): string {
  return path.split('/').map(escaped).join('/')
}

function canonicalQuery(query: URLSearchParams): string {
  return [...query]
    .map(([name, value]) => `${escaped(name)}=${escaped(value)}`)
    .toSorted()
    .join('&')
}

function escaped(text: string): string {
  return encodeURIComponent(text).replaceAll(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)
}

function lowerCase(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}

function sha256(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex')
}

function hmac(key: Buffer | string, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}
