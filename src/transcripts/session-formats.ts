// The coding agents whose sessions are read and written.

import { claudeCodeSession } from './claude-code-session.ts'
import { codexSession } from './codex-session.ts'
import { geminiCliSession } from './gemini-cli-session.ts'
import { opencodeSession } from './opencode-session.ts'
import { piSession } from './pi-session.ts'
import { qwenCodeSession } from './qwen-code-session.ts'
import type { SessionFormat } from './session.ts'

const sessionFormats: readonly SessionFormat[] = [
  claudeCodeSession,
  codexSession,
  piSession,
  opencodeSession,
  geminiCliSession,
  qwenCodeSession,
]

export function sessionFormat(id: string): SessionFormat | undefined {
  return sessionFormats.find((format) => format.id === id)
}
