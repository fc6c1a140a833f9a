// Lasting permissions for tools: in one conversation, or always. A grant names the tool and its source, so that a tool
// of the same name from another source asks again. Each can be revoked, with immediate effect.

import { createHash } from 'node:crypto'
import type { Tool } from '../../core/tool.ts'
import type { StoredRecord } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'

export type ApprovalScope = 'once' | 'conversation' | 'always'

export interface Grant {
  id: string
  tool: string
  /** Such as `built-in`, `mcp:files`, or the file of an agent. */
  source: string
  /** Absent: in every conversation. */
  conversationId?: string
  at: string
}

export type GrantedTool = Pick<Grant, 'tool' | 'source' | 'conversationId'>

const kind = 'tool-grant'

export async function grantTool(store: Store, owner: string, granted: GrantedTool): Promise<void> {
  const { tool, source, conversationId } = granted
  const scope = conversationId === undefined ? {} : { conversationId }
  await store.putRecords([{ owner, kind, id: idOf(granted), data: { tool, source, ...scope }, ...scope }])
}

/** Newest first. */
export async function listGrants(store: Store, owner: string): Promise<Grant[]> {
  const { items } = await store.records(owner, kind, { limit: 500 })
  return items.map(toGrant)
}

/** False: there was none. */
export async function revokeGrant(store: Store, owner: string, id: string): Promise<boolean> {
  return store.deleteRecord(owner, kind, id)
}

/** The tool with an approval check that passes if a grant applies. */
export function withGrants(
  tool: Tool,
  place: { store: Store; owner: string; conversationId: string; source: string },
): Tool {
  const { ask, read } = tool
  if (ask === undefined && !read) return tool
  const { store, owner, conversationId, source } = place
  const isGranted = async (): Promise<boolean> => {
    const granted = { tool: tool.name, source }
    const records = await Promise.all(
      [granted, { ...granted, conversationId }].map((grant) => store.record(owner, kind, idOf(grant))),
    )
    return records.some((record) => record !== undefined)
  }
  return {
    ...tool,
    ...(ask !== undefined && {
      ask: async (input) => (typeof ask === 'function' ? await ask(input) : ask) && !(await isGranted()),
    }),
    ...(read && {
      async read(input) {
        const ready = await read.call(tool, input)
        if ('problem' in ready) return ready
        return { run: (run) => ready.run(run), asks: async () => (await ready.asks()) && !(await isGranted()) }
      },
    }),
  }
}

function idOf({ tool, source, conversationId = '' }: GrantedTool): string {
  return createHash('sha256')
    .update(JSON.stringify([tool, source, conversationId]))
    .digest('hex')
    .slice(0, 32)
}

function toGrant({ id, data, conversationId, at }: StoredRecord): Grant {
  const { tool, source } = data
  return {
    id,
    tool: String(tool),
    source: String(source),
    ...(conversationId !== undefined && { conversationId }),
    at,
  }
}
