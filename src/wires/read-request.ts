// Reads the body of a request: the conversation, the system prompt, the tools and the options. For servers that accept
// requests of one wire and answer them through another.

import type { Note, ToolSpec } from '../core/context.ts'
import type { JsonObject } from '../core/json.ts'
import { textOf, type Message, type Part } from '../core/message.ts'
import type { Options } from '../settings/options.ts'
import type { WireService } from './service.ts'
import { callable, type RequestOptions } from './shared/request-options.ts'
import type { TranscriptFormat } from './shared/transcript.ts'

/** The content of a request body. */
export interface ReadRequest {
  /** The model in the body; some wires have it in the URL. */
  model?: string
  /** Without the leading system messages. */
  messages: Message[]
  system: string
  tools: ToolSpec[]
  options: Options
  /** Whether the reply should be streamed. */
  stream: boolean
  notes: Note[]
}

/** `provider`: the provider of the body, for what differs by host. */
export function readRequestWith(
  { transcript, service }: { transcript: TranscriptFormat; service: WireService },
  given: JsonObject,
  provider: string = service.home,
): ReadRequest {
  const body = service.withUsualNames?.(given) ?? given
  const { messages: read, system = [], tools: declared = [], notes: ofTranscript } = transcript.read(body)
  const requested = service.options(body, provider)
  const { tools, notes } = callable(declared, requested)
  const all = read.filter((message) => !declaresTools(message))
  const first = all.findIndex((message) => message.role !== 'system')
  const leading = first < 0 ? all : all.slice(0, first)
  return {
    ...(typeof body.model === 'string' && { model: body.model }),
    messages: all.slice(leading.length),
    system: [textOf(system), ...leading.map((message) => textOf(message.parts))].filter(Boolean).join('\n\n'),
    tools,
    options: optionsOf(requested),
    stream: service.streams?.(body) ?? body.stream === true,
    notes: notes.length === 0 ? ofTranscript : [...ofTranscript, ...notes],
  }
}

/** Items that declare tools are settings of the request, like the tools outside of the conversation. */
function declaresTools({ role, parts }: Message): boolean {
  const isDeclaration = (part: Part) => part.type === 'opaque' && part.kind.endsWith('/additional_tools')
  return role === 'user' && parts.length > 0 && parts.every(isDeclaration)
}

function optionsOf(requested: RequestOptions): Options {
  const { toolChoice, parallelTools, allowedTools: _tools, reasoning: _reasoning, ...options } = requested
  return {
    ...options,
    ...(toolChoice !== 'auto' && { toolChoice }),
    ...(!parallelTools && { parallelTools }),
  }
}
