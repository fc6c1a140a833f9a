// Our signatures compared with those of AWS's own signer, byte for byte.

import assert from 'node:assert/strict'
import test from 'node:test'
import { signature } from '../../src/auth/sigv4.ts'
import { cloudSdk } from './cloud-sdks.ts'

interface Signing {
  SignatureV4: new (options: object) => {
    sign(request: object, options: object): Promise<{ headers: Record<string, string> }>
  }
}

const keys = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' }
const sessions = [keys, { ...keys, sessionToken: 'a/session+token==' }]

const requests: { method: string; url: string; headers?: Record<string, string>; body: string | Uint8Array }[] = [
  { method: 'GET', url: 'https://bedrock.us-east-1.amazonaws.com/foundation-models', body: '' },
  {
    method: 'POST',
    url: 'https://bedrock-runtime.us-east-1.amazonaws.com/model/us.amazon.nova-micro-v1%3A0/converse',
    body: '{"messages":[]}',
  },
  {
    method: 'POST',
    url: 'https://bedrock-runtime.eu-central-1.amazonaws.com/model/us.anthropic.claude-sonnet-4-5-20250929-v1:0/invoke',
    body: '{"x":"ä🙂"}',
  },
  {
    method: 'POST',
    url: 'https://bedrock-runtime.us-east-1.amazonaws.com/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A123456789012%3Aapplication-inference-profile%2Fabc/converse-stream',
    headers: { 'X-Amzn-Bedrock-GuardrailIdentifier': 'not signed', 'x-amz-target': 'two   spaces ' },
    body: new TextEncoder().encode('{"bytes":true}'),
  },
  { method: 'POST', url: "http://127.0.0.1:8080/anthropic/v1/messages?b=2&a=1&a=0&c=%20(x)'*!", body: '{}' },
]

test('every request is signed as the official signer signs it', async () => {
  const { SignatureV4 } = await cloudSdk<Signing>('@smithy/signature-v4')
  const { Sha256 } = await cloudSdk<{ Sha256: unknown }>('@aws-crypto/sha256-js')
  for (const { method, url, headers = {}, body } of requests) {
    for (const credentials of sessions) {
      for (const now of [Date.UTC(2026, 10, 16, 9, 5, 7), Date.UTC(2027, 0, 1)]) {
        const scope = { region: 'us-east-1', service: 'bedrock' }
        const sent = { 'content-type': 'application/json', ...headers }
        const ours = signature({ method, url, headers: sent, body }, credentials, scope, now)
        const { protocol, hostname, port, host, pathname, searchParams } = new URL(url)
        const query: Record<string, string[]> = {}
        for (const [name, value] of searchParams) (query[name] ??= []).push(value)
        const signer = new SignatureV4({ credentials, ...scope, sha256: Sha256 })
        const request = { method, protocol, hostname, port, path: pathname, query, body, headers: { ...sent, host } }
        const options = {
          signingDate: new Date(now),
          signableHeaders: new Set(['content-type', 'host']),
          unsignableHeaders: new Set(['x-amzn-bedrock-guardrailidentifier']),
        }
        const { headers: theirs } = await signer.sign(request, options)
        for (const [name, value] of Object.entries(ours)) assert.equal(value, theirs[name], `${name} of ${url}`)
      }
    }
  }
})
