// The fields that a provider has refused for a model, shared by all conversations of a store: none of them has to be
// refused again to be left out. Each conversation also has it in its log, so that its requests follow from the log
// alone (P4).

import type { Entry } from '../../core/log.ts'
import type { RefusedField } from '../../context/decisions.ts'
import { hasField } from '../../context/refused.ts'
import type { Store } from '../../store/store.ts'
import { addOverlay } from '../log/known-overlays.ts'
import type { RunContext } from '../run-context.ts'

const memory = new WeakMap<Store, Map<string, RefusedField>>()

export async function rememberField(run: RunContext, history: readonly Entry[], found: RefusedField): Promise<void> {
  const known = memory.get(run.store) ?? new Map<string, RefusedField>()
  memory.set(run.store, known.set(JSON.stringify([found.provider, found.model, found.field]), found))
  await recordField(run, history, found)
}

/** Records what other conversations have learned and this one would learn with its next request. */
export async function recallFields(
  run: RunContext,
  history: readonly Entry[],
  recorded: readonly RefusedField[],
): Promise<RefusedField[]> {
  const { provider, model } = run.endpoint
  const learned: RefusedField[] = []
  for (const found of memory.get(run.store)?.values() ?? []) {
    if (found.provider !== provider.id || found.model !== model) continue
    if (
      recorded.some(
        ({ field, ...one }) => field === found.field && one.provider === found.provider && one.model === model,
      )
    )
      continue
    if (!history.some(({ message }) => hasField(message, found))) continue
    await recordField(run, history, found)
    learned.push(found)
  }
  return learned
}

async function recordField(run: RunContext, history: readonly Entry[], found: RefusedField): Promise<void> {
  const entryId = history.at(-1)?.id ?? ''
  const data = { provider: found.provider, model: found.model, field: found.field }
  await addOverlay(run, { entryId, kind: 'refused-field', data })
}
