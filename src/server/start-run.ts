// The way of every request that starts a run: once for its Idempotency-Key, written before it is answered, and answered
// with the run or, where that is asked for, with its events.

import { SynapseError } from '../core/error.ts'
import type { JsonObject } from '../core/json.ts'
import type { Conversation } from '../core/log.ts'
import type { NewEntry } from '../store/store.ts'
import { json } from './answer.ts'
import { onceFor, type Once } from './idempotency.ts'
import type { Call } from './route.ts'
import { missing } from './route.ts'
import { checkRun, mergeSettings } from './run-settings.ts'
import { openStream } from './run-stream.ts'
import { busyWith, isChanged } from './runs/supervisor.ts'
import type { Settings } from './schema.ts'
import type { RunView } from './views.ts'

export interface RunStart {
  /** The entry that the run begins from; null: the conversation is empty. */
  basedOn: string | null
  /** What the user says. */
  entry?: NewEntry & { id: string }
  /** What the conversation is called from then on. */
  title?: string
  /** Moves the head, once there is room for the run. */
  move?: () => Promise<void>
}

export async function startRun(
  call: Call<unknown, unknown>,
  given: Settings | undefined,
  begin: (conversation: Conversation) => Promise<RunStart>,
): Promise<globalThis.Response> {
  const { server, owner, request, text } = call
  const once = onceFor(server.store, owner, request, text)
  const before = await once?.before()
  if (before) return answer(call, before, true)
  try {
    return await answer(call, await start(call, given, begin, once), false)
  } catch (error) {
    // The same request may have been quicker on another connection.
    const done = error instanceof SynapseError && error.kind === 'conflict' ? await once?.before() : undefined
    if (done) return answer(call, done, true)
    throw error
  }
}

async function start(
  { server, owner, principal, param }: Call<unknown, unknown>,
  given: Settings | undefined,
  begin: (conversation: Conversation) => Promise<RunStart>,
  once: Once | undefined,
): Promise<JsonObject> {
  const conversation = await server.store.conversation(owner, param('id'))
  if (!conversation) throw missing('conversation', param('id'))
  const { id } = conversation
  const settings = mergeSettings(server, conversation.settings, given)
  await checkRun(server, principal, settings)
  const { basedOn, entry, move, title } = await begin(conversation)
  const { keyId, budget } = principal
  const run = await server.runs
    .start({
      owner,
      conversationId: id,
      settings,
      ...(keyId !== undefined && { keyId }),
      ...(budget !== undefined && { budget }),
      entries: entry ? [entry] : [],
      basedOn: entry?.id ?? basedOn ?? '',
      ...(entry && { entryId: entry.id }),
      ...(title !== undefined && { title }),
      ...(move && { move }),
      records: (view) => (once ? [once.record(id, answerOf(view))] : []),
    })
    .catch(async (error: unknown) => {
      // Another run of this conversation was quicker.
      const other = isChanged(error) ? await server.runs.active(owner, id) : undefined
      throw other ? busyWith(other) : error
    })
  return answerOf(run)
}

function answerOf(run: RunView): JsonObject {
  return { run: JSON.parse(JSON.stringify(run)) as JsonObject }
}

async function answer(call: Call<unknown, unknown>, body: JsonObject, replayed: boolean): Promise<globalThis.Response> {
  const { id } = body['run'] as JsonObject & RunView
  const headers = { location: `/api/runs/${id}`, ...(replayed && { 'idempotency-replayed': 'true' }) }
  const wanted = (call.request.headers.get('accept') ?? '').includes('text/event-stream')
  return wanted ? openStream(call.server, call.owner, id, 0, headers) : json(body, 202, headers)
}
