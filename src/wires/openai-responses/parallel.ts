// The hidden `parallel` call. Models sometimes wrap several calls into one call of an undeclared tool (R22): we run the
// children, and the server expects one output, for the wrapper's `call_id`.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'

interface Child {
  name: string
  input: JsonObject
}

const names: ReadonlySet<string> = new Set(['parallel', 'multi_tool_use.parallel'])
const recipientPrefix = 'functions.'

export function isWrapperName(name: string | undefined): boolean {
  return name !== undefined && names.has(name)
}

/** The calls inside, or undefined if this is an ordinary call: any deviation from the wrapper's form is enough. */
export function unwrap(name: string, input: Json): Child[] | undefined {
  if (!isWrapperName(name) || !isObject(input)) return undefined
  const uses = input.tool_uses
  if (!Array.isArray(uses) || uses.length === 0) return undefined
  const children: Child[] = []
  for (const use of uses) {
    if (!isObject(use)) return undefined
    const recipient = use.recipient_name
    const parameters = use.parameters
    if (typeof recipient !== 'string' || !recipient.startsWith(recipientPrefix) || !isObject(parameters)) {
      return undefined
    }
    const child = recipient.slice(recipientPrefix.length)
    if (child === '') return undefined
    children.push({ name: child, input: parameters })
  }
  return children
}

/** The one output that answers the wrapper: the children's results in order, each under its recipient's name. */
export function wrappedOutput(results: readonly { name: string; text: string }[]): string {
  return JSON.stringify(
    results.map(({ name, text }) => ({ recipient_name: `${recipientPrefix}${name}`, output: text })),
  )
}
