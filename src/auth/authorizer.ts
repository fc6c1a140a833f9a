// Authorises requests to a cloud without a key, with the credentials of the user's environment. They are looked up when
// the first request needs them. Tokens are cached in memory, and never logged or stored.

/** The cloud settings of a provider's row. */
export type Credentials =
  /** Requests are signed for this service of AWS. */
  | { kind: 'aws'; service: string }
  | { kind: 'google' }
  /** The second scope is tried if a token for the first is refused. */
  | { kind: 'entra'; scopes: readonly [string, ...string[]] }

/** Variables that locate or identify credentials: a folder may not set them. */
export const choosingVariables: Readonly<Record<Credentials['kind'], readonly string[]>> = {
  aws: [
    'AWS_PROFILE',
    'AWS_CONFIG_FILE',
    'AWS_SHARED_CREDENTIALS_FILE',
    'AWS_CONTAINER_CREDENTIALS_RELATIVE_URI',
    'AWS_CONTAINER_CREDENTIALS_FULL_URI',
    'AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE',
  ],
  google: ['GOOGLE_APPLICATION_CREDENTIALS', 'CLOUDSDK_CONFIG'],
  entra: ['AZURE_TENANT_ID', 'AZURE_CLIENT_ID', 'AZURE_FEDERATED_TOKEN_FILE'],
}

export type Env = Readonly<Record<string, string | undefined>>

export interface Outgoing {
  method: string
  url: string
  headers: Readonly<Record<string, string>>
  body: string | Uint8Array
}

/** The part of `fetch` that is needed to request a token. */
export type TokenFetch = (
  url: string,
  init: {
    method: string
    headers: Record<string, string>
    body?: string
    redirect?: 'manual'
    signal?: AbortSignal
  },
) => Promise<TokenReply>

interface TokenReply {
  readonly status: number
  readonly headers: { get(name: string): string | null | undefined }
  text(): Promise<string>
}

export interface Authorizer {
  /** The headers that authorise this one request. Throws one sentence for the user if something is missing. */
  headers(request: Outgoing, fetch: TokenFetch): Promise<Record<string, string>>
  /** After a refusal: drops what was refused, and returns whether another try may succeed. */
  refresh(refused: Pick<TokenReply, 'status' | 'headers'>): boolean
}

export interface AuthOptions {
  env: Env
  /** The region of an AWS address. */
  region?: string | undefined
  now?: () => number
}

/** Nothing is loaded or read before the first request. */
export function authorizer(credentials: Credentials, options: AuthOptions): Authorizer {
  let loading: Promise<Authorizer> | undefined
  let loaded: Authorizer | undefined
  return {
    async headers(request, fetch) {
      loaded = await (loading ??= load(credentials, options))
      return loaded.headers(request, fetch)
    },
    refresh: (refused) => loaded?.refresh(refused) ?? false,
  }
}

async function load(credentials: Credentials, options: AuthOptions): Promise<Authorizer> {
  switch (credentials.kind) {
    case 'aws':
      return (await import('./aws.ts')).awsAuthorizer(credentials.service, options)
    case 'google':
      return (await import('./google.ts')).googleAuthorizer(options)
    case 'entra':
      return (await import('./entra.ts')).entraAuthorizer(credentials.scopes, options)
  }
}
