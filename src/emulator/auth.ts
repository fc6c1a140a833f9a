// Keys: any is accepted, a missing one is refused, and the key `wrong` is refused as invalid, so that both cases can be
// tested. Keys are never stored: a digest distinguishes clients.

import { createHash } from 'node:crypto'
import type { Json } from '../core/json.ts'
import type { WireService } from '../wires/service.ts'
import { needsKey } from './known-providers.ts'
import { Refusal } from '../wires/shared/refusal.ts'
import type { GivenHeaders } from './route.ts'

/** The owner of a request. Throws a Refusal with the provider's error text. */
export function ownerOf(
  provider: string,
  service: WireService,
  headers: GivenHeaders,
  url: URL,
  requireKey: boolean,
): string {
  const key = keyIn(headers, url)
  const refused = key === 'wrong' ? 'wrong' : key === '' && requireKey && needsKey(provider) ? 'missing' : undefined
  if (refused) {
    const [status, body] = (service.keyErrors ?? words[provider] ?? words.openai ?? fallback)[refused]
    throw new Refusal(status, body)
  }
  return createHash('sha256').update(`${provider} ${key}`).digest('base64url').slice(0, 16)
}

function keyIn(headers: GivenHeaders, url: URL): string {
  const bearer = headers.get('authorization')?.replace(/^Bearer\s*/i, '')
  const header = headers.get('x-api-key') ?? headers.get('x-goog-api-key') ?? headers.get('api-key')
  return (header ?? bearer ?? url.searchParams.get('key') ?? '').trim()
}

type Words = NonNullable<WireService['keyErrors']>

const openaiError = (message: string, code: string | null): Json => ({
  error: { message, type: 'invalid_request_error', param: null, code },
})
const fallback: Words = {
  missing: [401, openaiError("You didn't provide an API key.", null)],
  wrong: [401, openaiError('Incorrect API key provided: wrong.', 'invalid_api_key')],
}
const anthropicError = (message: string): Json => ({ type: 'error', error: { type: 'authentication_error', message } })
const deepseekError: Json = {
  error: {
    message: 'Authentication Fails, Your api key: ****rong is invalid',
    type: 'authentication_error',
    param: null,
    code: 'invalid_request_error',
  },
}

/**
 * Only DeepSeek's and OpenRouter's texts are on record (checked 2026-11). The others follow the provider's style:
 * status, fields and codes as documented, the text modelled on its other errors. Others answer like OpenAI.
 */
const words: Record<string, Words> = {
  openai: {
    missing: [
      401,
      openaiError(
        "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY), or as the password field (with blank username) if you're accessing the API from your browser and are prompted for a username and password. You can obtain an API key from https://platform.openai.com/account/api-keys.",
        null,
      ),
    ],
    wrong: [
      401,
      openaiError(
        'Incorrect API key provided: wrong. You can find your API key at https://platform.openai.com/account/api-keys.',
        'invalid_api_key',
      ),
    ],
  },
  anthropic: {
    missing: [401, anthropicError('x-api-key header is required')],
    wrong: [401, anthropicError('invalid x-api-key')],
  },
  google: {
    missing: [
      403,
      {
        error: {
          code: 403,
          message:
            "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other form of API consumer identity to call this API.",
          status: 'PERMISSION_DENIED',
        },
      },
    ],
    wrong: [
      400,
      {
        error: {
          code: 400,
          message: 'API key not valid. Please pass a valid API key.',
          status: 'INVALID_ARGUMENT',
          details: [
            {
              '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
              reason: 'API_KEY_INVALID',
              domain: 'googleapis.com',
            },
          ],
        },
      },
    ],
  },
  mistral: {
    missing: [401, { message: 'Unauthorized' }],
    wrong: [401, { message: 'Unauthorized' }],
  },
  deepseek: { missing: [401, deepseekError], wrong: [401, deepseekError] },
  // An invalid key is a 400 there.
  xai: {
    missing: [401, { error: 'Missing or invalid token' }],
    wrong: [
      400,
      {
        code: 'Client specified an invalid argument',
        error: 'Incorrect API key provided: wr***ng. You can obtain an API key from https://console.x.ai.',
      },
    ],
  },
  openrouter: {
    missing: [401, { error: { message: 'Missing Authentication header', code: 401 } }],
    wrong: [401, { error: { message: 'User not found.', code: 401 } }],
  },
  groq: {
    missing: [401, openaiError('Invalid API Key', 'invalid_api_key')],
    wrong: [401, openaiError('Invalid API Key', 'invalid_api_key')],
  },
}
