// What a slash command has before it: the conversation, and ways to show something.

import type { Run } from '../../run/conversation.ts'
import type { ChatSession } from '../chat-session.ts'
import type { Style } from '../terminal.ts'

export interface SlashContext {
  session: ChatSession
  style: Style
  /** Columns of the screen. */
  width: () => number
  /** Prints; the text must be safe already. */
  say: (text: string) => void
  /** Shows a run as it goes, until it rests. */
  answer: (run: Run) => Promise<void>
  /** Puts words on the next line to be typed; false where no one types. */
  begin: (text: string) => boolean
}

export interface SlashCommand {
  /** What may come after it. */
  takes?: string
  about: string
  run(rest: string, context: SlashContext): Promise<'quit' | void>
  /** What may follow, for the tab key. */
  complete?(context: SlashContext): Promise<readonly string[]>
}

export type SlashCommands = Record<string, SlashCommand>
