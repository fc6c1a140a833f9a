// The records by which later requests find a reply, and the client request that it answers. They are written together
// with the reply, so that a killed server has both or neither.

import type { JsonObject } from '../../core/json.ts'
import type { Reply } from '../../core/message.ts'
import type { NewRecord } from '../../store/records.ts'
import type { ExchangeEnd } from '../../store/store.ts'
import type { UnfinishedReply } from '../../wires/service.ts'
import { clientRequestRecord } from './client-request.ts'
import { itemIdsOf } from './client-items.ts'
import { replyRecords, responseRecord } from './match-records.ts'
import type { PassThrough } from './pass-through.ts'
import type { DoorRunOptions } from './run.ts'

/** The run that writes a response: later runs of its conversation are others. */
interface RunOfResponse {
  runId: string
  /** Of its lease. */
  epoch?: number
}

interface WrittenReply {
  entryId: string
  exchangeId: string
  outcome: ExchangeEnd['outcome']
  /** In the client's form. */
  reply: Reply
}

export interface RecordsOfRun {
  ofRequest(exchangeId: string, bodySha256: string): NewRecord
  ofReply(written: WrittenReply): NewRecord[]
  /** Of a reply without content. `entryId`: of the message that it answers. */
  ofEmptyReply(written: Omit<WrittenReply, 'outcome'>): NewRecord[]
  /** Of a response in the background before it has a reply, or that ends without one. `basedOn`: the entry that it answers. */
  ofUnfinished(basedOn: string, state: UnfinishedReply, writtenBy?: RunOfResponse): NewRecord[]
  /** The client's id of the reply. */
  clientReplyId(): string | undefined
}

/** `hash`: of the whole request. */
export function recordsOfRun(
  options: DoorRunOptions,
  { conversationId, hash }: { conversationId: string; hash: string },
  passes: PassThrough | undefined,
): RecordsOfRun {
  const { principal, request, replyId, response, delivery, verbatim } = options
  const { owner } = principal
  const isPassed = (): boolean => passes?.peek() !== undefined
  const clientReplyId = (): string | undefined => (isPassed() ? passes?.replyId() : replyId)
  return {
    clientReplyId,

    ofRequest(exchangeId, bodySha256) {
      const { body: _body, ...about } = options.sent
      return clientRequestRecord(owner, { exchangeId, conversationId }, { ...about, bodySha256 })
    },

    ofReply({ outcome, ...written }) {
      const records = recordsFor(written)
      // An answer that the client has cut off itself is not the answer to its next request.
      if (!delivery || outcome !== 'done') return records
      const { entryId, exchangeId } = written
      const id = clientReplyId() ?? replyId ?? ''
      return [delivery.record({ conversationId, entryId, exchangeId, replyId: id }), ...records]
    },

    ofUnfinished(basedOn, { status, failure }, writtenBy) {
      if (!response?.isBackground) return []
      const end = { status, ...(failure && { failure: { kind: failure.kind, message: failure.message } }) }
      return [responseRecord(owner, conversationId, replyId ?? '', { ...response.data, ...end, ...writtenBy, basedOn })]
    },

    ofEmptyReply: (written) => recordsFor(written, { stop: { ...written.reply.stop } }),
  }

  function recordsFor(
    { entryId, exchangeId, reply }: Omit<WrittenReply, 'outcome'>,
    more: JsonObject = {},
  ): NewRecord[] {
    const id = clientReplyId()
    return replyRecords(owner, { conversationId, entryId }, reply, {
      hash,
      exchangeId,
      session: request.session,
      passedBy: isPassed() ? verbatim?.provider : undefined,
      replyId: response && id,
      itemIds: itemIdsOf({ wire: options.sent.protocol, service: options.service }, reply, {
        replyId: id,
        isPassed: isPassed(),
      }),
      ...(response?.isStored &&
        id !== undefined && { response: { id, data: { ...responseData(exchangeId), ...more } } }),
    })
  }

  function responseData(exchangeId: string): JsonObject {
    return { ...response?.data, exchangeId, ...(response?.isFirst && { firstExchange: exchangeId }) }
  }
}
