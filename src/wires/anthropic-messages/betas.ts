// The beta headers that a body needs, derived from the body itself, so that header and body cannot differ. Names
// checked 2026-11 (@anthropic-ai/sdk 1.8.0).

import { isObject, type JsonObject } from '../../core/json.ts'
import { isBlock, type Block } from './types.ts'

export function betasOf(body: JsonObject): string[] {
  const { types, summaries } = blocksOf(body)
  const tools = Array.isArray(body.tools) ? body.tools.filter(isBlock) : []
  const edits = isObject(body.context_management) ? body.context_management.edits : undefined
  const editTypes = Array.isArray(edits) ? edits.flatMap((edit) => (isBlock(edit) ? [edit.type] : [])) : []
  const has = (...some: string[]) => some.some((type) => types.has(type))
  const hasTool = (start: string) => tools.some((tool) => tool.type.startsWith(start))
  const output = isObject(body.output_config) ? body.output_config : {}

  const wanted: [boolean, string][] = [
    [body.thread !== undefined, 'message-threads-2026-08-12'],
    [isObject(body.thinking) && body.thinking.block_binding !== undefined, 'thinking-binding-controls-2026-08-01'],
    [
      summaries.some((block) => typeof block.signature === 'string') || body.compaction !== undefined,
      'compact-2026-09-04',
    ],
    [
      summaries.some((block) => typeof block.signature !== 'string') || editTypes.includes('compact_20260112'),
      'compact-2026-01-12',
    ],
    [editTypes.some((type) => type.startsWith('clear_')), 'context-management-2025-06-27'],
    [
      has('mcp_tool_use', 'mcp_tool_result', 'mcp_tool_listing') || body.mcp_servers !== undefined,
      'mcp-client-2025-11-20',
    ],
    [has('fallback') || body.fallbacks !== undefined, 'server-side-fallback-2026-07-01'],
    [has('advisor_tool_result') || hasTool('advisor_'), 'advisor-tool-2026-03-01'],
    [has('tool_addition', 'tool_removal'), 'mid-conversation-tool-changes-2026-07-01'],
    [hasTool('computer_20251124'), 'computer-use-2025-11-24'],
    [hasTool('computer_20250124'), 'computer-use-2025-01-24'],
    [output.task_budget !== undefined, 'task-budgets-2026-03-13'],
    [isObject(body.container) && body.container.skills !== undefined, 'skills-2025-10-02'],
    [body.speed === 'fast', 'fast-mode-2026-02-01'],
  ]
  return wanted.flatMap(([needed, beta]) => (needed ? [beta] : []))
}

function blocksOf({ messages }: JsonObject): { types: Set<string>; summaries: Block[] } {
  const types = new Set<string>()
  const summaries: Block[] = []
  for (const message of Array.isArray(messages) ? messages : []) {
    if (!isObject(message) || !Array.isArray(message.content)) continue
    for (const block of message.content) {
      if (!isBlock(block)) continue
      types.add(block.type)
      if (block.type === 'compaction') summaries.push(block)
    }
  }
  return { types, summaries }
}
