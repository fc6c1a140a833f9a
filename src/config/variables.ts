// Which environment variables a configuration reads, and for which reader. A variable named after its provider or
// server is its own; any other one may contain another service's secret.

import type { McpServer } from './load.ts'

/** One variable, read for one provider or server. */
export interface VariableUse {
  name: string
  /** Such as `provider cellar`. */
  reader: string
  /** Where its value is sent: hosts, or a program. */
  goesTo: string
  /** Named after its reader: `CELLAR_API_KEY` for cellar. */
  own: boolean
}

const endings = ['KEY', 'TOKEN', 'API_KEY', 'API_TOKEN', 'URL', 'BASE_URL', 'HOST', 'ENDPOINT']

/** Credentials that no provider row or MCP server may claim by using their name as its id. */
const wellKnown =
  /^(AWS|AZURE|GCP|GOOGLE|GITHUB|GH|GITLAB|BITBUCKET|NPM|NODE|PYPI|TWINE|DOCKER|KUBE|SSH|GPG|VAULT|CLOUDFLARE|CF|DIGITALOCEAN|HEROKU|VERCEL|NETLIFY|STRIPE|PAYPAL|TWILIO|SENDGRID|SLACK|DISCORD|TELEGRAM|SENTRY|DATADOG|DD|DATABASE|DB|PG|POSTGRES|MYSQL|MONGO|REDIS|SMTP|MAIL|JWT|SESSION|HF|WANDB|OP|SYNAPSE)(_|$)/

export function isOwnVariable(id: string, name: string): boolean {
  const prefix = id.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_')
  const upper = name.toUpperCase()
  return !wellKnown.test(upper) && endings.some((ending) => upper === `${prefix}_${ending}`)
}

/** The variables in the settings of an MCP server. */
export function serverVariables(server: McpServer): string[] {
  const texts =
    'url' in server
      ? [server.url, ...Object.values(server.headers ?? {})]
      : [...(server.args ?? []), ...Object.values(server.env ?? {})]
  const names = texts.flatMap((text) =>
    [...text.matchAll(/\$\{([A-Za-z_]\w*)(?::-[^}]*)?\}/g)].map(([, name = '']) => name),
  )
  return [...new Set(names)]
}
