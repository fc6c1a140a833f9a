// Fetching a public page. The resolved address is checked, at each redirect again: a name can point anywhere, and can
// change. No cookies, no credentials, GET only, with limits of time and size.

import { type LookupAddress, lookup as systemLookup } from 'node:dns'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { BlockList, isIP, isIPv4, isIPv6, type LookupFunction } from 'node:net'
import type { Tool } from '../../core/tool.ts'
import { textField } from './input.ts'

const mostBytes = 1024 * 1024
const mostCharacters = 100_000
const mostRedirects = 5
const timeoutMs = 20_000

export interface FetchRules {
  /** Whether an address may be connected to; the public ones by default. */
  allows?: (address: string) => boolean
  /** How names become addresses. */
  lookup?: typeof systemLookup
}

export function fetchTool(rules: FetchRules = {}): Tool {
  return {
    name: 'fetch_url',
    description: 'Fetches a public web page or text file and returns its text.',
    input: {
      type: 'object',
      properties: { url: { type: 'string', description: 'https:// or http://' } },
      required: ['url'],
      additionalProperties: false,
    },
    ask: true,
    repeatable: true,
    timeoutMs: timeoutMs * 2,
    run: (input, { signal }) => fetchText(textField(input, 'url'), rules, signal),
  }
}

export async function fetchText(address: string, rules: FetchRules, signal: AbortSignal): Promise<string> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
  let url = checkAddress(address, rules)
  for (let hops = 0; ; hops++) {
    const reply = await get(url, rules, limit)
    const { statusCode: status = 0, headers } = reply
    if (status >= 300 && status < 400 && headers.location !== undefined) {
      reply.destroy()
      if (hops >= mostRedirects) throw new Error(`${address} redirects too often`)
      url = checkAddress(new URL(headers.location, url).href, rules)
      continue
    }
    const type = headers['content-type'] ?? ''
    if (!/^(text\/|application\/([\w.-]+\+)?(json|xml|javascript|yaml)\b)|^$/i.test(type)) {
      reply.destroy()
      throw new Error(`${url.href} is ${type.split(';', 1)[0]}, not text`)
    }
    const text = await bodyOf(reply)
    const words = /html/i.test(type) ? textOfHtml(text) : text
    const cut = words.length > mostCharacters ? `${words.slice(0, mostCharacters).toWellFormed()}\n[cut off]` : words
    return status < 400 ? cut : `${status} ${reply.statusMessage ?? ''}\n\n${cut}`
  }
}

/** One parser for the check and for the request, so that both see the same host. */
function checkAddress(address: string, rules: FetchRules): URL {
  const url = URL.parse(address)
  if (!url || !/^https?:$/.test(url.protocol)) throw new Error('only http and https addresses can be fetched')
  if (url.username || url.password) throw new Error('an address with a name or password is not fetched')
  const host = url.hostname.replace(/^\[|\]$/g, '')
  // A literal address needs no lookup.
  if (isIP(host) !== 0) refuseUnless(host, host, rules)
  return url
}

function refuseUnless(host: string, address: string, { allows = isPublicAddress }: FetchRules): void {
  if (!allows(address)) throw new Error(`${host} is not on the public internet, so it is not fetched`)
}

function get(url: URL, rules: FetchRules, signal: AbortSignal): Promise<IncomingMessage> {
  const request = url.protocol === 'https:' ? httpsRequest : httpRequest
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      {
        lookup: guardLookup(url.hostname, rules),
        agent: false,
        signal,
        headers: {
          accept: 'text/html, text/*;q=0.9, */*;q=0.1',
          'user-agent': 'synapse',
          'accept-encoding': 'identity',
        },
      },
      resolve,
    )
    sent.once('error', (error) => {
      reject(signal.aborted ? new Error(`${url.host} took too long, or the call was stopped`) : error)
    })
    sent.end()
  })
}

/** Returns only allowed addresses; the connection is made to one of exactly these. */
function guardLookup(host: string, rules: FetchRules): LookupFunction {
  const { lookup = systemLookup } = rules
  return (name, options, callback) => {
    lookup(name, { ...options, all: true }, (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => {
      if (error) return callback(error, '')
      try {
        // All of them: a name with an allowed and a forbidden address is an attempt to bypass this.
        for (const { address } of addresses) refuseUnless(host, address, rules)
      } catch (refusal) {
        return callback(refusal as Error, '')
      }
      const [first] = addresses
      if (!first) return callback(new Error(`${host} has no address`), '')
      return options.all ? callback(null, addresses) : callback(null, first.address, first.family)
    })
  }
}

async function bodyOf(reply: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of reply) {
    chunks.push(chunk as Buffer)
    size += (chunk as Buffer).length
    if (size <= mostBytes) continue
    reply.destroy()
    break
  }
  return Buffer.concat(chunks).subarray(0, mostBytes).toString('utf8')
}

// The text of a page, for a model: without scripts, styles and tags. The result is text, never shown as HTML.

// A tag without an end ends with the page: looking for the end of each again would take quadratic time.
const dropped = /<(script|style|template|noscript|svg|head|title)\b[^>]*(?:>[\s\S]*?(<\/\1\s*>|$)|$)/gi
const breaking = /<\/?(p|div|br|li|ul|ol|tr|table|h[1-6]|section|article|header|footer|pre|blockquote)\b[^>]*(?:>|$)/gi
const named: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' }

function textOfHtml(html: string): string {
  const [, title = ''] = /<title\b[^>]*(?:>([^<]{0,500})|$)/i.exec(html) ?? []
  const body = html
    .replaceAll(/<!--[\s\S]*?(-->|$)/g, '')
    .replaceAll(dropped, ' ')
    .replaceAll(breaking, '\n')
    .replaceAll(/<[^>]*(>|$)/g, '')
  const lines = decodeEntities(body)
    .split('\n')
    .map((line) => line.replaceAll(/[ \t\r\f]+/g, ' ').trim())
  const text = lines
    .join('\n')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim()
  const head = decodeEntities(title).trim()
  return head === '' ? text : `${head}\n\n${text}`
}

function decodeEntities(text: string): string {
  return text.replaceAll(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,6}));/gi, (entity, decimal, hex, name) => {
    if (name !== undefined) return named[String(name).toLowerCase()] ?? entity
    const code = hex === undefined ? Number(decimal) : Number.parseInt(String(hex), 16)
    return code > 0 && code <= 0x10_ff_ff ? String.fromCodePoint(code) : entity
  })
}

// Whether an address is on the public internet. Everything else (this machine, its networks, cloud metadata services,
// and the ways to write an IPv4 address as an IPv6 one) is not available to a model.

/** From https://www.iana.org/assignments/iana-ipv4-special-registry, and multicast (checked 2026-11). */
const special4 = new BlockList()
for (const [network, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const)
  special4.addSubnet(network, bits, 'ipv4')

/** Global unicast addresses that are not public: protocol assignments, Teredo, documentation, 6to4. */
const special6 = new BlockList()
for (const [network, bits] of [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const)
  special6.addSubnet(network, bits, 'ipv6')

const global6 = new BlockList()
global6.addSubnet('2000::', 3, 'ipv6')

export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !special4.check(address, 'ipv4')
  // Mapped and translated IPv4 addresses are outside of global unicast, in every notation.
  return isIPv6(address) && global6.check(address, 'ipv6') && !special6.check(address, 'ipv6')
}
