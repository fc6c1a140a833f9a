// Media in messages. They are untrusted: whatever their type claims, they are served as what their first bytes say, as
// an image or not at all, and cannot become a page.

import { SynapseError } from '../../core/error.ts'
import { bytesAnswer } from '../answer.ts'
import { route, type Route } from '../route.ts'

export const blobRoutes: readonly Route[] = [
  route({
    operationId: 'getBlob',
    method: 'get',
    path: '/api/blobs/{sha256}',
    access: 'read',
    summary: 'The bytes of media in one of your messages',
    answer: { status: 200, description: 'The bytes.', types: ['application/octet-stream'] },
    async handle({ request, server, owner, param }) {
      const bytes = await server.store.blob(owner, param('sha256'))
      if (!bytes) throw new SynapseError({ kind: 'not-found', message: 'This blob does not exist.' })
      return bytesAnswer(request, bytes, {
        'content-type': typeOf(bytes),
        'content-disposition': 'attachment',
        'content-security-policy': "default-src 'none'; sandbox",
        'cache-control': 'private, max-age=31536000, immutable',
      })
    },
  }),
]

const signatures: [string, string][] = [
  ['image/png', '\u0089PNG\r\n\u001A\n'],
  ['image/jpeg', '\u00FF\u00D8\u00FF'],
  ['image/gif', 'GIF8'],
  ['application/pdf', '%PDF-'],
]

function typeOf(bytes: Uint8Array): string {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(16, bytes.byteLength)).toString('latin1')
  if (head.startsWith('RIFF') && head.slice(8, 12) === 'WEBP') return 'image/webp'
  return signatures.find(([, start]) => head.startsWith(start))?.[0] ?? 'application/octet-stream'
}
