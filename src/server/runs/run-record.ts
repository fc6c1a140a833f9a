// A run as it is stored: what is shown of it, and what is needed to resume it after a restart. An active run has three
// records: the run itself, one that reserves its conversation, and one that a server finds at its start, for
// any owner.

import { isObject, type JsonObject } from '../../core/json.ts'
import type { NewRecord, StoredRecord } from '../../store/records.ts'
import type { Settings } from '../schema.ts'
import { serverOwner } from '../keys.ts'
import type { RunView } from '../views.ts'

export interface StoredRun extends RunView {
  owner: string
  /** The process that has it. */
  holder: string
  settings: Settings & { model: string }
  /** The key that pays for it, and its total budget. */
  keyId?: string
  budget?: number
}

export const recordKind = { run: 'run', active: 'active-run', open: 'open-run', cancel: 'cancel-run' } as const

export function runRecord(run: StoredRun, version: number): NewRecord {
  return {
    owner: run.owner,
    kind: recordKind.run,
    id: run.id,
    conversationId: run.conversationId,
    data: JSON.parse(JSON.stringify(run)) as JsonObject,
    version,
  }
}

/** There is one per conversation, and it is never deleted: its version shows who was faster. */
export function activeRecord({ owner, conversationId, id }: StoredRun, version: number): NewRecord {
  return { owner, kind: recordKind.active, id: conversationId, conversationId, data: { runId: id }, version }
}

/** Releases the conversation. */
export function freeRecord({ owner, conversationId }: StoredRun): NewRecord {
  return { owner, kind: recordKind.active, id: conversationId, conversationId, data: {} }
}

export function openRecord(run: StoredRun): NewRecord {
  return { owner: serverOwner, kind: recordKind.open, id: run.id, data: { owner: run.owner } }
}

export function readRun(record: StoredRecord | undefined): StoredRun | undefined {
  return record && isObject(record.data) ? (record.data as JsonObject & StoredRun) : undefined
}

export function viewOf(run: StoredRun): RunView {
  const { owner: _owner, holder: _holder, settings: _settings, keyId: _keyId, budget: _budget, ...view } = run
  return view
}
