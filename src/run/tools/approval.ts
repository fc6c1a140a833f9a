// Tool calls that need approval. Questions and answers are stored next to the log, so that a question outlives the
// process. An answer is valid for one call, for exactly the arguments that were shown, and only until it expires.

import { hash } from 'node:crypto'
import { SynapseError } from '../../core/error.ts'
import type { Entry, Overlay } from '../../core/log.ts'
import { callsOf, type ToolCallPart } from '../../core/message.ts'
import { addOverlay } from '../log/known-overlays.ts'
import { nextStep } from '../next-step.ts'
import type { WritableLog } from '../run-context.ts'

const questionKind = 'approval-asked'
const answerKind = 'approval-answered'
const defaultAskMs = 3_600_000

/** A call that waits for approval. */
export interface Approval {
  call: ToolCallPart
  /** Of the arguments; the answer must name it. */
  argsHash: string
  /** After this time it counts as denied. */
  expiresAt: string
}

export type Answer = { state: 'allowed' } | { state: 'denied'; why: string } | { state: 'waiting'; approval: Approval }

export interface ApprovalContext extends WritableLog {
  now(): number
}

export function argsHashOf(call: ToolCallPart): string {
  const text = call.malformed ?? JSON.stringify(call.input)
  return hash('sha256', text)
}

/** The user's answer about this call; asks if that has not been done yet. */
export async function answerTo(
  runtime: ApprovalContext,
  replyEntry: Entry,
  call: ToolCallPart,
  askTimeoutMs?: number,
): Promise<Answer> {
  const { store, owner, conversationId } = runtime
  const argsHash = argsHashOf(call)
  const overlays = (await store.overlays(owner, conversationId)).filter((overlay) => isAbout(overlay, call.callId))
  const answer = overlays.find((overlay) => overlay.kind === answerKind)
  if (answer) {
    if (answer.data['argsHash'] !== argsHash) return denied(`${call.name} was allowed with other arguments.`)
    if (answer.data['allowed'] === true) return { state: 'allowed' }
    return denied(refusalOf(call, answer.data['reason']))
  }
  const question = overlays.find((overlay) => overlay.kind === questionKind)
  const expiresAt = expiryIn(question) ?? new Date(runtime.now() + (askTimeoutMs ?? defaultAskMs)).toISOString()
  if (question && Date.parse(expiresAt) <= runtime.now()) {
    return denied(`${call.name} was not approved in time, so it was not run.`)
  }
  if (!question) {
    const data = { callId: call.callId, name: call.name, argsHash, expiresAt }
    await addOverlay(runtime, { entryId: replyEntry.id, kind: questionKind, data })
  }
  return { state: 'waiting', approval: { call, argsHash, expiresAt } }
}

/** The calls at the end of a history that wait for approval. */
export async function waitingApprovals(
  runtime: Omit<ApprovalContext, 'write'>,
  history: readonly Entry[],
): Promise<Approval[]> {
  const next = nextStep(history)
  if (next.kind !== 'tools') return []
  const overlays = await runtime.store.overlays(runtime.owner, runtime.conversationId)
  return next.calls.flatMap((call) => {
    const about = overlays.filter((overlay) => isAbout(overlay, call.callId))
    const question = about.find((overlay) => overlay.kind === questionKind)
    const expiresAt = expiryIn(question) ?? ''
    const isOpen = question && !about.some((overlay) => overlay.kind === answerKind)
    return isOpen && Date.parse(expiresAt) > runtime.now() ? [{ call, argsHash: argsHashOf(call), expiresAt }] : []
  })
}

export interface Verdict {
  callId: string
  allowed: boolean
  /** Must be the hash of the arguments that were shown; a denial needs none. */
  argsHash?: string
  reason?: string
}

/** Stores the answer, once. Throws if the call does not wait for approval, or its arguments are others. */
export async function answerApproval(
  runtime: ApprovalContext,
  history: readonly Entry[],
  verdict: Verdict,
): Promise<void> {
  const { callId, allowed, reason } = verdict
  const waiting = (await waitingApprovals(runtime, history)).find(({ call }) => call.callId === callId)
  if (!waiting) throw conflict(await whyNotWaiting(runtime, history, callId))
  if (verdict.argsHash !== waiting.argsHash && (allowed || verdict.argsHash !== undefined)) {
    throw conflict(`The arguments of ${waiting.call.name} have changed since they were shown; review the call again.`)
  }
  const entryId = history.findLast((entry) => callsOf(entry.message).some((call) => call.callId === callId))?.id ?? ''
  const data = { callId, allowed, argsHash: waiting.argsHash, ...(reason !== undefined && { reason }) }
  await addOverlay(runtime, { entryId, kind: answerKind, data })
}

async function whyNotWaiting(runtime: ApprovalContext, history: readonly Entry[], callId: string): Promise<string> {
  const overlays = await runtime.store.overlays(runtime.owner, runtime.conversationId)
  const about = overlays.filter((overlay) => isAbout(overlay, callId))
  if (about.some((overlay) => overlay.kind === answerKind)) return `The call ${callId} has already been answered.`
  if (about.length === 0) return `No call ${callId} waits for approval.`
  const next = nextStep(history)
  const isOpen = next.kind === 'tools' && next.calls.some((call) => call.callId === callId)
  return isOpen
    ? `The approval of the call ${callId} was not given in time.`
    : `The conversation has continued without the call ${callId}.`
}

function isAbout(overlay: Overlay, callId: string): boolean {
  return !overlay.undone && overlay.data['callId'] === callId
}

function expiryIn(question: Overlay | undefined): string | undefined {
  const { expiresAt } = question?.data ?? {}
  return typeof expiresAt === 'string' ? expiresAt : undefined
}

function denied(why: string): Answer {
  return { state: 'denied', why }
}

function refusalOf(call: ToolCallPart, reason: unknown): string {
  const why = typeof reason === 'string' && reason !== '' ? ` The reason: ${reason}` : ''
  return `The user did not allow ${call.name}, so it was not run.${why}`
}

function conflict(message: string): SynapseError {
  return new SynapseError({ kind: 'conflict', message })
}
