// What the official clients' types say about going back and forth: which fields a reply has and a request has not, and
// which items need an id. Nothing here runs; `sdk-types.test.ts` has the compiler check it.

import type Anthropic from '@anthropic-ai/sdk'
import type { Candidate, Content } from '@google/genai'
import type { AssistantMessage, ChatCompletionChoice } from '@mistralai/mistralai/models/components'
import type OpenAI from 'openai'
import type { facts } from '../../src/wires/openai-responses/types.ts'

type KeysOf<T> = T extends unknown ? keyof T : never

/** `type.field` for each field that a reply's thing of a type has and a request's has not. */
type ReplyOnly<Reply extends { type: string }, Request> = {
  [
    T in Reply['type']
  ]: `${T}.${Exclude<KeysOf<Extract<Reply, { type: T }>>, KeysOf<Extract<Request, { type?: T }>>> & string}`
}[Reply['type']]

type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false

/** Each claim is a type that must be `true`. */
type Holds<Claim extends true> = Claim

// openai-chat: `annotations` is the one field of a message that a request has not.
type ChatReplyOnly = Exclude<KeysOf<OpenAI.ChatCompletionMessage>, KeysOf<OpenAI.ChatCompletionAssistantMessageParam>>
export type Claim1 = Holds<Same<ChatReplyOnly, 'annotations'>>

// anthropic-messages: no block of a reply has a field that the block of a request has not.
type Block = Anthropic.Beta.BetaContentBlock | Anthropic.ContentBlock
type BlockParam = Anthropic.Beta.BetaContentBlockParam | Anthropic.ContentBlockParam
export type Claim2 = Holds<Same<ReplyOnly<Block, BlockParam>, never>>

// openai-responses: `created_by` is the one field of an item that an input item has not; outputs are the client's own.
type Item = OpenAI.Responses.ResponseOutputItem
type InputItem = OpenAI.Responses.ResponseInputItem
type ItemReplyOnly = ReplyOnly<Item, InputItem>
export type Claim3 = Holds<Same<Exclude<ItemReplyOnly, `${string}.created_by`>, 'custom_tool_call_output.status'>>

// openai-responses: these items need an id. `item_reference` and outputs are the client's own.
type NeedsId = {
  [T in NonNullable<Extract<InputItem, { type?: unknown }>['type']>]: Extract<InputItem, { type: T }> extends {
    id: string
  }
    ? T
    : never
}[NonNullable<Extract<InputItem, { type?: unknown }>['type']>]
type NotOptional = {
  [T in keyof typeof facts]: (typeof facts)[T] extends { idOptional: true } | { outputOnly: true } ? never : T
}[keyof typeof facts]
/** Sent without their own id, too: the first two then get a new one, and ciphertext goes back without. */
type SentLoosely = 'message' | 'web_search_call' | 'reasoning'
type OfTheClient = 'item_reference' | 'local_shell_call_output'
export type Claim4 = Holds<Same<Exclude<NeedsId, OfTheClient>, NotOptional | SentLoosely>>

// gemini: the content of a candidate is the content of a request.
export type Claim5 = Holds<Same<NonNullable<Candidate['content']>, Content>>

// mistral-chat: the message of a choice is the assistant message of a request, and has these fields.
export type Claim6 = Holds<Same<NonNullable<ChatCompletionChoice['message']>, AssistantMessage>>
export type Claim7 = Holds<Same<keyof AssistantMessage, 'role' | 'content' | 'toolCalls' | 'prefix'>>
