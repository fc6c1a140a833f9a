// The built chat page. All files are read at the start and found by their exact path: a path cannot lead anywhere else.
// The content security policy allows only our scripts, and only requests to this server.

import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { extname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'

export interface Page {
  /** Undefined: there is no such file. */
  file(request: Request): Response | undefined
}

export const pageHeaders: Record<string, string> = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data: blob:",
    "font-src 'self'",
    "connect-src 'self'",
    "manifest-src 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "require-trusted-types-for 'script'",
  ].join('; '),
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
}

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.webmanifest': 'application/manifest+json',
  '.map': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.txt': 'text/plain; charset=utf-8',
}

interface Asset {
  type: string
  etag: string
  bytes: Buffer<ArrayBuffer>
  /** Compressed by the first request that accepts it: most files are never requested. */
  packed?: Buffer<ArrayBuffer>
  /** Its name changes with its content. */
  lasting: boolean
}

/** Without a folder: the default output folder of the build. */
export function openPage(folder: string | undefined = builtPage()): Page {
  const assets = folder === undefined ? new Map<string, Asset>() : readAssets(folder)
  return {
    file(request) {
      if (request.method !== 'GET' && request.method !== 'HEAD') return undefined
      const { pathname } = new URL(request.url)
      if (assets.size === 0 && pathname === '/') return notBuilt()
      // A link to a conversation serves the page too, which reads the rest of the path itself.
      const asset = assets.get(/^\/(?:c\/[A-Za-z0-9._:-]+)?$/.test(pathname) ? '/index.html' : pathname)
      return asset && answer(asset, request)
    },
  }
}

function builtPage(): string | undefined {
  const folder = fileURLToPath(new URL('../../dist/web/', import.meta.url))
  return statSync(join(folder, 'index.html'), { throwIfNoEntry: false })?.isFile() ? folder : undefined
}

function readAssets(folder: string): Map<string, Asset> {
  const assets = new Map<string, Asset>()
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const type = types[extname(entry.name)]
    if (!entry.isFile() || type === undefined) continue
    const path = join(entry.parentPath, entry.name)
    const bytes = Buffer.from(readFileSync(path))
    assets.set(`/${relative(folder, path).split(sep).join('/')}`, {
      type,
      etag: `"${createHash('sha256').update(bytes).digest('hex').slice(0, 32)}"`,
      bytes,
      lasting: /[.-][A-Za-z0-9_-]{8,}\.\w+$/.test(entry.name) && !entry.name.endsWith('.html'),
    })
  }
  return assets
}

function answer(asset: Asset, request: Request): Response {
  const { type, etag, bytes, lasting } = asset
  const headers: Record<string, string> = {
    'content-type': type,
    'cache-control': lasting ? 'public, max-age=31536000, immutable' : 'no-cache',
    etag,
    vary: 'accept-encoding',
  }
  if (request.headers.get('if-none-match') === etag) return new Response(null, { status: 304, headers })
  if (!/^(text|application|image\/svg)/.test(type) || !/\bgzip\b/.test(request.headers.get('accept-encoding') ?? ''))
    return new Response(bytes, { headers })
  asset.packed ??= Buffer.from(gzipSync(bytes))
  return new Response(asset.packed, { headers: { ...headers, 'content-encoding': 'gzip' } })
}

function notBuilt(): Response {
  const text = 'The API is at /api. The chat page is not built: run "npm run build".\n'
  return new Response(text, { status: 404, headers: { 'content-type': 'text/plain; charset=utf-8' } })
}
