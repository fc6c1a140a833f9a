// Sends the requests of a probe one at a time and compares each answer with the expected one.

import { asFailure, type ErrorKind, type Failure } from '../core/error.ts'
import { isObject, parseJson, type Json } from '../core/json.ts'
import type { Reply } from '../core/message.ts'
import type { Usage } from '../core/usage.ts'
import { costOf } from '../providers/price.ts'
import type { Endpoint } from '../providers/resolve.ts'
import type { Transport } from '../run/run-context.ts'
import { replay } from '../runtime/prepare.ts'
import { defaultLimits } from '../transport/limits.ts'
import { networkFailure } from '../transport/network.ts'
import { redactText, secretsIn } from '../transport/redact.ts'
import { sleep } from '../transport/reply.ts'
import { defaultRetry, retryWait } from '../transport/retry.ts'
import type { FetchedReply } from '../transport/send.ts'
import { tooLarge } from '../transport/unframe.ts'
import { readFailure } from '../wires/shared/failure.ts'
import type { Issue } from '../wires/wire.ts'
import type { ProbeRequest, ProbeStep } from './plan.ts'

/** `unanswered`: something else prevented an answer, such as a rate limit. `not-sent`: it was not sent. */
export type Outcome = 'as-expected' | 'differs' | 'unanswered' | 'not-sent'

export interface ProbeRow {
  provider: string
  wire: string
  model: string
  /** The name of the check, or the number of the rule. */
  check: string
  about: string
  outcome: Outcome
  expected: string
  /** The service's answer, without keys; or why it was not sent. */
  observed: string
  status?: number
  /** In US dollars. */
  cost?: number
  /** The request, if the answer differs and it contains nothing of an earlier reply. */
  body?: Json
}

interface ProbeRun {
  endpoint: Endpoint
  steps: readonly ProbeStep[]
  transport: Transport
  /** The remaining budget, in US dollars. No request is sent that could cost more. */
  budget: number
  onRow?(row: ProbeRow): void
  signal?: AbortSignal
}

export async function runProbe(run: ProbeRun): Promise<ProbeRow[]> {
  const replies = new Map<string, Reply>()
  const rows: ProbeRow[] = []
  let spent = 0
  /** Why nothing more is sent. */
  let blocked: string | undefined
  for (const step of run.steps) {
    const first = step.after === undefined ? undefined : replies.get(step.after)
    const reason =
      blocked ??
      (step.after !== undefined && !first ? `there is no reply to "${step.after}" to continue` : undefined) ??
      (spent + (step.cost?.most ?? 0) > run.budget ? 'it could exceed the budget' : undefined)
    const seen = reason === undefined ? await observe(run, step, first) : notSent(reason)
    if (seen.reply && seen.outcome === 'as-expected') replies.set(step.id, seen.reply)
    spent += seen.cost ?? 0
    if (seen.blocks !== undefined) blocked = seen.blocks
    const row = rowOf(run, step, seen)
    rows.push(row)
    run.onRow?.(row)
  }
  return rows
}

interface Observed extends Pick<ProbeRow, 'outcome' | 'observed' | 'status' | 'cost' | 'body'> {
  reply?: Reply
  /** Further requests are pointless, and why. */
  blocks?: string
}

function notSent(reason: string): Observed {
  return { outcome: 'not-sent', observed: reason }
}

async function observe(run: ProbeRun, step: ProbeStep, first: Reply | undefined): Promise<Observed> {
  const { endpoint, transport, signal } = run
  const request = step.request(first)
  const asking = { name: endpoint.provider.name, transport, signal }
  const response = await ask(
    request,
    asking,
    step.issues.map(({ status }) => status),
  )
  const isExpected = step.issues.length === 0 ? comparedWithReply : comparedWithIssues
  const seen = await isExpected(response, step, request, endpoint)
  const clean = clip(redactText(seen.observed, secretsIn(request.headers)))
  const isShown = seen.outcome === 'differs' && step.after === undefined
  return {
    ...seen,
    observed: clean,
    ...(response.status !== undefined && { status: response.status }),
    ...(isShown && { body: request.body }),
  }
}

type Compare = (
  response: ProbeResponse,
  step: ProbeStep,
  request: ProbeRequest,
  endpoint: Endpoint,
) => Promise<Observed>

/** The request should have been accepted. */
const comparedWithReply: Compare = async (response, step, request, endpoint) => {
  if (response.failure) return refusedInstead(response)
  if (step.countField !== undefined) return countedTokens(response, step.countField)
  const { reply, usage, failure } = replay(request.origin.protocol, response.text, { origin: request.origin })
  const cost = costIn(usage, step, endpoint)
  const missing =
    failure?.message ??
    (reply.stop.reason === 'interrupted' ? 'a reply that breaks off' : undefined) ??
    (await step.missing?.({ reply, ...(usage && { usage }) }, endpoint))
  if (missing !== undefined) return { outcome: 'differs', observed: missing, cost }
  return { outcome: 'as-expected', observed: 'accepted', reply, cost }
}

/** The request should have been refused. */
const comparedWithIssues: Compare = async (response, { issues, ...step }, request, endpoint) => {
  if (!response.failure) {
    const { usage } = replay(request.origin.protocol, response.text, { origin: request.origin })
    return { outcome: 'differs', observed: 'accepted', cost: costIn(usage, { ...step, issues }, endpoint) }
  }
  const { status } = response
  const sameStatus = issues.filter((issue) => issue.status === status)
  if (sameStatus.length === 0) return refusedInstead(response)
  const answer = messageOf(response.text)
  const isSame = sameStatus.some(({ message }) => sameWords(message, answer))
  return { outcome: isSame ? 'as-expected' : 'differs', observed: `${status} ${answer}` }
}

function refusedInstead({ status, text, failure }: ProbeResponse): Observed {
  const kind = failure?.kind ?? 'internal'
  const observed = status === undefined ? (failure?.message ?? 'no answer') : `${status} ${messageOf(text)}`
  const blocks = blocking[kind]
  if (blocks !== undefined) return { outcome: 'unanswered', observed, blocks }
  const isBusy = status === undefined || busyKinds.has(kind)
  return { outcome: isBusy ? 'unanswered' : 'differs', observed }
}

/** Failures that every other request would have too. */
const blocking: Partial<Record<ErrorKind, string>> = {
  auth: 'the key was refused',
  permission: 'the key may not do this',
  quota: 'the account has no quota left',
  'not-found': 'the model or the address was not found',
  network: 'the service could not be reached',
  timeout: 'the service took too long',
}

/** Failures that are unrelated to the request. */
const busyKinds: ReadonlySet<ErrorKind> = new Set(['rate-limit', 'overloaded'])

function countedTokens({ text }: ProbeResponse, field: string): Observed {
  const answer = parseJson(text)
  const tokens = isObject(answer) ? answer[field] : undefined
  return typeof tokens === 'number' && tokens > 0
    ? { outcome: 'as-expected', observed: `${tokens} tokens`, cost: 0 }
    : { outcome: 'differs', observed: `an answer without a number in "${field}"` }
}

/** What the service reports, at its price; without a report, the maximum. */
function costIn(
  usage: Usage | undefined,
  { cost }: Pick<ProbeStep, 'cost' | 'issues'>,
  { price, offline }: Endpoint,
): number {
  if (offline) return 0
  return (usage && costOf(usage, price)) ?? cost?.most ?? 0
}

function rowOf({ endpoint }: ProbeRun, step: ProbeStep, seen: Observed): ProbeRow {
  const { reply: _, blocks: __, ...shown } = seen
  return {
    provider: endpoint.provider.id,
    wire: endpoint.protocol.id,
    model: endpoint.model,
    check: step.id,
    about: step.about,
    expected: clip(expectedOf(step.issues)),
    ...shown,
  }
}

function expectedOf([first]: readonly Issue[]): string {
  return first ? `${first.status} ${first.message}` : 'accepted'
}

/** Some services answer with a page. */
const longestShown = 600

function clip(text: string): string {
  return text.length > longestShown ? `${text.slice(0, longestShown)}…` : text
}

/** The message of an error, whatever form it has. */
function messageOf(text: string): string {
  const body = parseJson(text)
  const message = body === undefined ? text : messagesIn(body).join(' ') || text
  return message.replaceAll(/\s+/g, ' ').trim()
}

function messagesIn(value: Json): string[] {
  if (typeof value === 'string') return [value]
  if (Array.isArray(value)) return value.flatMap(messagesIn)
  if (!isObject(value)) return []
  const named = Object.entries(value).filter(([name]) => messageFields.has(name))
  return named.flatMap(([, field]) => (field === undefined ? [] : messagesIn(field)))
}

const messageFields = new Set(['error', 'message', 'msg', 'detail', 'details', 'loc'])

/** Numbers, quotes and ids differ from request to request: the sentence around them is compared. */
function sameWords(expected: string, actual: string): boolean {
  return comparableText(actual).includes(comparableText(expected))
}

function comparableText(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[a-z]*_[a-z0-9]{8,}|\d+/g, '#')
    .replaceAll(/["'`]/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim()
}

// One request of a probe, sent directly: the status and text of the response, with as little in between as possible.

/** The response. Without a status there was none, and `failure` says why. */
interface ProbeResponse {
  status?: number
  text: string
  failure?: Failure
}

interface SendOptions {
  /** The service's name in messages. */
  name: string
  transport: Transport
  signal?: AbortSignal | undefined
}

/** Waits and retries if the service is busy. `final`: statuses that are the expected answer. */
async function ask(
  request: ProbeRequest,
  { name, transport, signal }: SendOptions,
  final: readonly number[],
): Promise<ProbeResponse> {
  for (let failed = 1; ; failed++) {
    const response = await once(request, { name, transport, signal })
    const { failure, status } = response
    if (!failure || (status !== undefined && final.includes(status))) return response
    const wait = retryWait(failure, failed, undefined, { ...defaultRetry, ...transport.retry })
    if (wait === undefined || signal?.aborted) return response
    await (transport.sleep ?? sleep)(wait, signal)
  }
}

async function once(request: ProbeRequest, { name, transport, signal }: SendOptions): Promise<ProbeResponse> {
  const limits = { ...defaultLimits, ...transport.limits }
  const late = AbortSignal.timeout(limits.headersMs)
  try {
    const body = JSON.stringify(request.body)
    const headers = { 'content-type': 'application/json', ...request.headers }
    const outgoing = { method: 'POST', url: request.url, headers: headers, body }
    const added = await transport.authorize?.headers(outgoing, transport.fetch ?? fetch)
    const reply = await (transport.fetch ?? fetch)(request.url, {
      method: 'POST',
      headers: { ...added, ...headers },
      body,
      redirect: 'manual',
      signal: signal ? AbortSignal.any([signal, late]) : late,
    })
    const text = await textOf(reply, limits.replySize)
    const { status } = reply
    if (status >= 200 && status < 300) return { status, text }
    const answer: Json = parseJson(text) ?? text
    return { status, text, failure: readFailure({ status, body: answer, headers: Object.fromEntries(reply.headers) }) }
  } catch (error) {
    signal?.throwIfAborted()
    return {
      text: '',
      failure: late.aborted
        ? tooLate(limits.headersMs)
        : (networkFailure(error, request.url, name) ?? asFailure(error)),
    }
  }
}

/** Binary frames in base64, as in recordings. */
async function textOf({ body, headers }: FetchedReply, most: number): Promise<string> {
  const pieces: Uint8Array[] = []
  let size = 0
  const reader = body?.getReader()
  for (;;) {
    const { done = true, value } = (await reader?.read()) ?? {}
    if (done || !value) break
    size += value.length
    if (size > most) throw tooLarge('The reply', most)
    pieces.push(value)
  }
  const isBinary = headers.get('content-type')?.includes('amazon.eventstream')
  return Buffer.concat(pieces).toString(isBinary ? 'base64' : 'utf8')
}

function tooLate(ms: number): Failure {
  return { kind: 'timeout', message: `No answer came within ${Math.round(ms / 1000)} seconds.` }
}
