// Converts decisions to the data of overlays and back. An overlay names entries, because positions differ from branch to
// branch; it applies to every path through the entry it was made at, unless it was undone.

import { isObject, type Json, type JsonObject } from '../core/json.ts'
import type { Entry, Overlay } from '../core/log.ts'
import { placesOf } from './along-path.ts'
import type { CompactionDecision, Decisions, NativeSummary } from './decisions.ts'
import type { Proposal } from './proposals.ts'
import type { FoldStyle } from '../settings/policy.ts'

type Recorded = Pick<Overlay, 'entryId' | 'kind' | 'data' | 'undone' | 'at'>

/** Those that apply to the path of these entries. */
export function overlaysOn<O extends Recorded>(entries: readonly Pick<Entry, 'id'>[], overlays: readonly O[]): O[] {
  if (overlays.length === 0) return []
  const places = placesOf(entries)
  return overlays.filter((overlay) => !overlay.undone && places.has(overlay.entryId))
}

export function readDecisions(entries: readonly Pick<Entry, 'id'>[], overlays: readonly Recorded[]): Decisions {
  const placeOf = (id: Json | undefined): number | undefined =>
    typeof id === 'string' ? placesOf(entries).get(id) : undefined
  const decisions: Decisions = { folds: [], compactions: [], plain: [] }
  const unfolded = overlays.flatMap(({ kind, data, undone, entryId }) => {
    const [from, through] = [placeOf(data.from), placeOf(data.through)]
    const counts = kind === 'fold' && undone && placesOf(entries).has(entryId)
    return counts && from !== undefined && through !== undefined ? [{ from, through }] : []
  })
  if (unfolded.length > 0) decisions.unfolded = unfolded
  for (const { kind, data, entryId } of overlaysOn(entries, overlays)) {
    const through = placeOf(data.through)
    switch (kind) {
      case 'fold': {
        const from = placeOf(data.from)
        if (from === undefined || through === undefined || !isStyle(data.style)) break
        const cold = data.cold === true
        const at = placeOf(entryId) ?? through
        decisions.folds.push({ from, through, style: data.style, why: reasonOf(data.why), at, ...(cold && { cold }) })
        break
      }
      case 'cut': {
        const before = placeOf(data.before)
        if (before === undefined || before <= (decisions.cut?.before ?? 0)) break
        decisions.cut = { before, why: reasonOf(data.why) }
        break
      }
      case 'compaction':
        if (through !== undefined) decisions.compactions.push(readCompaction(through, data))
        break
      case 'plain': {
        const { provider, protocol } = data
        if (through === undefined || typeof provider !== 'string' || typeof protocol !== 'string') break
        decisions.plain.push({ through, provider, protocol })
        break
      }
      case 'refused-field': {
        const { provider, model, field } = data
        if (typeof provider !== 'string' || typeof model !== 'string' || typeof field !== 'string') break
        decisions.refused = [...(decisions.refused ?? []), { provider, model, field }]
      }
    }
  }
  return decisions
}

/** A proposal as the data of an overlay; `about` names the provider and model it was made for. */
export function proposalData(proposal: Proposal, entries: readonly Pick<Entry, 'id'>[], about: JsonObject): JsonObject {
  const { fold, cut, numbers } = proposal
  const idOf = (place: number): string => entries[place]?.id ?? ''
  return {
    ...(fold && { from: idOf(fold.from), through: idOf(fold.through), style: fold.style, why: fold.why }),
    ...(cut && { before: idOf(cut.before), why: cut.why }),
    ...numbers,
    ...about,
  }
}

export function compactionData(
  { text, native }: Omit<CompactionDecision, 'through'>,
  through: string,
  about: JsonObject,
): JsonObject {
  return { through, ...(text !== undefined && { text }), ...(native && { native: { ...native } }), ...about }
}

function readCompaction(through: number, { text, native }: JsonObject): CompactionDecision {
  return { through, ...(typeof text === 'string' && { text }), ...(isNative(native) && { native }) }
}

function isNative(value: unknown): value is NativeSummary & JsonObject {
  return isObject(value) && Array.isArray(value.items) && typeof value.provider === 'string'
}

function reasonOf(why: Json | undefined): string {
  return typeof why === 'string' ? why : 'it was decided earlier'
}

function isStyle(style: Json | undefined): style is FoldStyle {
  return style === 'stub' || style === 'results' || style === 'remove' || style === 'provider'
}
