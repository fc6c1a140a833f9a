// The environment of a slash command: the conversation, and ways to show something.

import type { Run } from '../../run/conversation.ts'
import type { ChatSession } from '../chat-session.ts'
import type { Style } from '../terminal.ts'

export interface SlashContext {
  session: ChatSession
  style: Style
  /** Columns of the screen. */
  width: () => number
  /** Prints; the text must already be safe. */
  say: (text: string) => void
  /** Shows a run until it stops. */
  answer: (run: Run) => Promise<void>
  /** One line that answers a question; undefined if not interactive. */
  ask: (question: string) => Promise<string | undefined>
  /** Puts text on the next input line; false if not interactive. */
  begin: (text: string) => boolean
}

export interface SlashCommand {
  /** What may follow it. */
  takes?: string
  about: string
  run(rest: string, context: SlashContext): Promise<'quit' | void>
  /** What may follow, for completion. */
  complete?(context: SlashContext): Promise<readonly string[]>
}

export type SlashCommands = Record<string, SlashCommand>
