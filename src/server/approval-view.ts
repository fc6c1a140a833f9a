// A call that waits for approval, with what helps to decide: the source of its tool, and what it would change.

import { resolve } from 'node:path'
import type { Conversation } from '../core/log.ts'
import type { Approval } from '../run/tools/approval.ts'
import { fileContent, callDiff, type CallDiff } from '../run/tools/call-diff.ts'
import type { ServerContext } from './context.ts'
import { mergeSettings } from './run-settings.ts'

interface ApprovalView extends Approval {
  source?: string
  diff?: CallDiff
}

export async function approvalViews(
  server: ServerContext,
  owner: string,
  conversation: Conversation,
  waiting: readonly Approval[],
): Promise<ApprovalView[]> {
  if (waiting.length === 0) return []
  const sources = await sourcesOf(server, owner, conversation).catch(() => new Map<string, string>())
  return waiting.map((approval) => {
    const source = sources.get(approval.call.name)
    const diff = callDiff(approval.call, (path) => contentOf(server, path))
    return {
      ...approval,
      ...(source !== undefined && { source: source.startsWith('agent:') ? 'agent' : source }),
      ...(diff && { diff }),
    }
  })
}

/** The sources of a conversation's tools, by name. */
export async function sourcesOf(
  server: ServerContext,
  owner: string,
  { settings }: Conversation,
): Promise<Map<string, string>> {
  const { agent, tools } = mergeSettings(server, owner, settings)
  const { offered } = await server.toolbox(owner).choose({ agent, tools })
  return new Map(offered.map(({ tool, source }) => [tool.name, source]))
}

/** Only for a user of this machine, who can read its files anyway. */
function contentOf({ keysRequired, folder }: ServerContext, path: string): string | undefined {
  return keysRequired ? undefined : fileContent(resolve(folder ?? '.', path))
}
