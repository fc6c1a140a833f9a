// Tools that the client runs, but whose description and schema only OpenAI's models know: a request names their type
// alone, and their calls and outputs are items of their own. For other models they are functions whose arguments are the
// fields of the call. Fields checked 2026-11 (openai 7.53, @openai/agents 0.20, @ai-sdk/openai 4.0).

import type { ToolKind, ToolSpec } from '../../core/context.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { ToolCallPart, ToolResultPart } from '../../core/message.ts'
import { numberIn, objectIn, objectsIn, textIn, textsIn } from '../shared/json-fields.ts'
import { asksClient, objectFields, stringField, typeOf, type Item } from './types.ts'

type ClientToolKind = Exclude<ToolKind, 'free-form' | 'search'>

interface ClientTool {
  /** The name of the function; these tools have none. */
  name: string
  /** Its type in a request; more types mean the same. */
  type: string
  call: string
  output: string
  /** The beginning of the ids of its calls. */
  prefix: string
  function(tool: JsonObject): Omit<ToolSpec, 'name'>
  /** The arguments in a call item. */
  input(item: Item): JsonObject
  /** The fields of a call item. A model of another provider may leave some out, and the client relies on all. */
  fields(input: JsonObject): JsonObject
  /** The fields of an output item for a result from elsewhere. */
  answer(text: string, failed: boolean): JsonObject
  /** Whether the value of a result is the fields of such an item. */
  isAnswer(value: JsonObject): boolean
}

const computerOutput = {
  name: 'computer',
  call: 'computer_call',
  output: 'computer_call_output',
  prefix: 'cu_',
  answer: () => ({}),
  isAnswer: (value: JsonObject) => Array.isArray(value.acknowledged_safety_checks),
}

const tools: Readonly<Record<ClientToolKind, ClientTool>> = {
  shell: {
    name: 'shell',
    type: 'shell',
    call: 'shell_call',
    output: 'shell_call_output',
    prefix: 'sh_',
    function: ({ environment }) => ({
      description: ['Runs shell commands and returns the output of each.', ...skillsIn(environment)].join('\n'),
      input: object(['commands'], {
        commands: { ...texts('The commands to run; they may be run at the same time.'), minItems: 1 },
        timeout_ms: integer('The time limit of the commands in milliseconds.'),
        max_output_length: integer('The most characters of output to return.'),
      }),
    }),
    input: ({ action }) => withoutNull(objectIn(action)),
    fields: ({ commands, command, timeout_ms, max_output_length }) => ({
      action: {
        commands: textList(commands ?? command),
        timeout_ms: numberOrNull(timeout_ms),
        max_output_length: numberOrNull(max_output_length),
      },
    }),
    answer: (stdout) => ({ output: [{ stdout, stderr: '', outcome: { type: 'exit', exit_code: 0 } }] }),
    isAnswer: ({ output }) => Array.isArray(output) && output.every((one) => isObject(one) && isObject(one.outcome)),
  },
  'local-shell': {
    name: 'local_shell',
    type: 'local_shell',
    call: 'local_shell_call',
    output: 'local_shell_call_output',
    prefix: 'lsh_',
    function: () => ({
      description: 'Runs a command and returns its output.',
      input: object(['command'], {
        command: { ...texts('The program and its arguments, such as ["bash", "-lc", "ls | wc -l"].'), minItems: 1 },
        working_directory: text('The directory in which it runs.'),
        env: { type: 'object', additionalProperties: { type: 'string' }, description: 'Environment variables.' },
        timeout_ms: integer('The time limit in milliseconds.'),
        user: text('The user as which it runs.'),
      }),
    }),
    input: ({ action }) => {
      const { type: _, env, ...given } = withoutNull(objectIn(action))
      return { ...given, ...(isObject(env) && Object.keys(env).length > 0 && { env }) }
    },
    fields: ({ command, working_directory, env, timeout_ms, user }) => ({
      action: {
        type: 'exec',
        command: typeof command === 'string' ? ['bash', '-lc', command] : textList(command),
        env: objectIn(env),
        ...(typeof timeout_ms === 'number' && { timeout_ms }),
        ...(typeof user === 'string' && { user }),
        ...(typeof working_directory === 'string' && { working_directory }),
      },
    }),
    answer: (output) => ({ output }),
    isAnswer: ({ output }) => typeof output === 'string',
  },
  'apply-patch': {
    name: 'apply_patch',
    type: 'apply_patch',
    call: 'apply_patch_call',
    output: 'apply_patch_call_output',
    prefix: 'apc_',
    function: () => ({
      description:
        'Creates, updates or deletes one file. In the diff of create_file, each line of the new file begins with "+". ' +
        'The diff of update_file consists of sections. Each begins with a line "@@", or "@@ " and a line of the file ' +
        'above the change, such as the head of a function or class. Then come the lines: " " before an unchanged line, ' +
        '"-" before a removed line, "+" before an added line. Show three unchanged lines before and after each change, ' +
        'exactly as they are in the file. There are no line numbers and no names of files in a diff.',
      input: object(['type', 'path'], {
        type: { type: 'string', enum: ['create_file', 'update_file', 'delete_file'] },
        path: text('The file.'),
        diff: text('For create_file and update_file.'),
      }),
    }),
    input: ({ operation }) => objectIn(operation),
    fields: (input) => {
      // Some models wrap the arguments in the name that the call item has for them.
      const { type, path, diff } = isObject(input.operation) ? input.operation : input
      const kind = type === 'create_file' || type === 'delete_file' ? type : 'update_file'
      return { operation: { type: kind, path: textIn(path), ...(kind !== 'delete_file' && { diff: textIn(diff) }) } }
    },
    answer: (output, failed) => ({ status: failed ? 'failed' : 'completed', output }),
    isAnswer: ({ status }) => status === 'completed' || status === 'failed',
  },
  computer: {
    ...computerOutput,
    type: 'computer',
    function: () => ({
      description:
        'Controls the mouse and keyboard of a computer: runs the actions in their order and returns a screenshot. ' +
        'Coordinates are pixels of the screenshot, from the top left. Take a screenshot first.',
      input: object(['actions'], { actions: { type: 'array', items: action, minItems: 1 } }),
    }),
    input: ({ actions }) => ({ actions: objectsIn(actions) }),
    fields: (input) => {
      const given = Array.isArray(input.actions) ? objectsIn(input.actions) : [singleAction(input)]
      return { actions: (given.length > 0 ? given : [{}]).map(wholeAction), pending_safety_checks: [] }
    },
  },
  'computer-preview': {
    ...computerOutput,
    type: 'computer_use_preview',
    function: ({ display_width: width, display_height: height, environment }) => ({
      description:
        `Controls the mouse and keyboard of a computer (${textIn(environment)}) with a screen of ${numberIn(width)} × ${numberIn(height)} pixels: ` +
        'runs one action and returns a screenshot. Coordinates are pixels from the top left. Take a screenshot first.',
      input: action,
    }),
    input: (item) => objectIn(item.action),
    fields: (input) => ({ action: wholeAction(singleAction(input)), pending_safety_checks: [] }),
  },
}

/** Undefined: the provider runs it, or it is another kind of tool. */
export function clientTool(tool: JsonObject): ToolSpec | undefined {
  const kind = kindOfTool(tool)
  if (!kind) return undefined
  const { name, function: describe } = tools[kind]
  return { name, ...describe(tool), kind, declared: tool }
}

/**
 * Whether a request has such tools, or their calls and outputs, and the host does not know them: Ollama offers its model
 * a tool without a name, and refuses the items (its source, checked 2026-11). OpenRouter passes them on to OpenAI.
 */
export function hasUnknownTools(
  { tools: declared, input }: JsonObject,
  { provider, toolKinds }: { provider: string; toolKinds: boolean },
): boolean {
  if (toolKinds || provider === 'openrouter') return false
  return (
    objectsIn(declared).some(kindOfTool) ||
    objectsIn(input).some((item) => calledClientTool(item) ?? answeredClientTool(item))
  )
}

/** The name of the function for a tool that a request names by its type. */
export function clientToolName(type: string): string | undefined {
  const kind = kindOfTool({ type })
  return kind && tools[kind].name
}

function kindOfTool(tool: JsonObject): ClientToolKind | undefined {
  // A name of the choice of a tool.
  const type = tool.type === 'computer_use' ? 'computer' : tool.type
  if (type === 'shell' && isContainer(tool.environment)) return undefined
  return kinds.find((kind) => tools[kind].type === type)
}

function isContainer(environment: Json | undefined): boolean {
  return isObject(environment) && textIn(environment.type).startsWith('container')
}

const kinds = Object.keys(tools) as ClientToolKind[]

export function isClientTool(kind: ToolKind | 'function' | undefined): kind is ClientToolKind {
  return kind !== undefined && Object.hasOwn(tools, kind)
}

export function declaredClientTool(kind: ClientToolKind, declared: JsonObject | undefined): JsonObject {
  return declared ?? { type: tools[kind].type }
}

/** The kind of tool that an item calls; undefined: it is no call of these, or the provider has run it. */
export function calledClientTool(item: Item): ClientToolKind | undefined {
  if (!asksClient(item)) return undefined
  const type = typeOf(item)
  if (type === 'computer_call') return Array.isArray(item.actions) ? 'computer' : 'computer-preview'
  return kinds.find((kind) => tools[kind].call === type)
}

/** The same for an item that answers a call. */
export function answeredClientTool(item: Item): ClientToolKind | undefined {
  return kinds.find((kind) => tools[kind].output === typeOf(item))
}

export function nameOfClientTool(kind: ClientToolKind): string {
  return tools[kind].name
}

export function inputOfClientTool(kind: ClientToolKind, item: Item): JsonObject {
  return tools[kind].input(item)
}

/** A call as an item, without its ids. Arguments that are not a JSON object are not run. */
export function clientCall(kind: ClientToolKind, part: Pick<ToolCallPart, 'input' | 'malformed'>): Item {
  const input = part.malformed === undefined ? objectIn(part.input) : {}
  return { type: tools[kind].call, ...tools[kind].fields(input), status: 'completed' }
}

export function prefixOfClientCall(kind: ClientToolKind): string {
  return tools[kind].prefix
}

/** What the client returned: as text for other models, and its fields for OpenAI's. The screenshot is read elsewhere. */
export function clientResult(item: Item): { text: string; value: JsonObject; failed: boolean } {
  const { type, call_id: _callId, id: _id, caller: _caller, ...rest } = item
  const value = withoutNull(rest)
  if (type === 'shell_call_output') {
    const list = objectFields(item, 'output')
    return {
      text: list.map((one, i) => commandOutput(one, list.length > 1 ? i + 1 : 0)).join('\n\n'),
      value,
      failed: false,
    }
  }
  const failed = item.status === 'failed'
  const text = stringField(item, 'output') || (type === 'apply_patch_call_output' ? textIn(item.status) : '')
  return { text, value, failed }
}

/** `number`: which of several commands it was; 0: there was one. */
function commandOutput({ stdout, stderr, outcome }: JsonObject, number: number): string {
  const { type, exit_code: code } = objectIn(outcome)
  const errors = textIn(stderr)
  return [
    ...(number > 0 ? [`[command ${number}]`] : []),
    ...(textIn(stdout) === '' ? [] : [textIn(stdout).replace(/\n$/, '')]),
    ...(errors === '' ? [] : ['[stderr]', errors.replace(/\n$/, '')]),
    type === 'timeout' ? '[timed out]' : `[exit code ${String(code ?? 'unknown')}]`,
  ].join('\n')
}

/** An output as an item, without its ids. */
export function clientAnswer(kind: ClientToolKind, result: ToolResultPart, text: string, image: JsonObject): Item {
  const { output: type, answer, isAnswer } = tools[kind]
  const { value, failed = false } = result
  const fields = isObject(value) && isAnswer(value) ? value : answer(text, failed)
  return { type, ...fields, ...(type === 'computer_call_output' && { output: image }) }
}

/** The description of the skills that a local shell has. */
function skillsIn(environment: Json | undefined): string[] {
  const skills = isObject(environment) ? objectsIn(environment.skills) : []
  if (skills.length === 0) return []
  const lines = skills.map((skill) => `- ${textIn(skill.name)} (${textIn(skill.path)}): ${textIn(skill.description)}`)
  return ['Skills, each a folder with instructions in its SKILL.md, to be read before it is used:', ...lines]
}

function singleAction(input: JsonObject): JsonObject {
  if (isObject(input.action)) return input.action
  return Array.isArray(input.actions) ? (objectsIn(input.actions)[0] ?? {}) : input
}

/** With the fields of its type, and no others; one of an unknown type changes nothing. */
function wholeAction(given: JsonObject): JsonObject {
  const defaults = actionFields.get(textIn(given.type))
  if (!defaults) return { type: 'screenshot' }
  const fields = Object.entries(defaults).flatMap(([name, value]) => {
    const used = given[name] ?? value
    return used === undefined ? [] : [[name, used] as const]
  })
  return { type: textIn(given.type), ...Object.fromEntries(fields) }
}

/** The fields of each type of action, with the values of those that it requires. */
const actionFields = new Map<string, Readonly<Record<string, Json | undefined>>>(
  Object.entries({
    click: { button: 'left', x: 0, y: 0, keys: undefined },
    double_click: { x: 0, y: 0, keys: null },
    drag: { path: [], keys: undefined },
    keypress: { keys: [] },
    move: { x: 0, y: 0, keys: undefined },
    screenshot: {},
    scroll: { x: 0, y: 0, scroll_x: 0, scroll_y: 0, keys: undefined },
    type: { text: '' },
    wait: {},
  }),
)

function withoutNull(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null))
}

function textList(value: Json | undefined): string[] {
  return typeof value === 'string' ? [value] : (textsIn(value) ?? [])
}

function numberOrNull(value: Json | undefined): number | null {
  return typeof value === 'number' ? value : null
}

function object(required: string[], properties: JsonObject): JsonObject {
  return { type: 'object', properties, required }
}

function text(description: string): JsonObject {
  return { type: 'string', description }
}

function texts(description: string): JsonObject {
  return { type: 'array', items: { type: 'string' }, description }
}

function integer(description: string): JsonObject {
  return { type: 'integer', description }
}

const point: JsonObject = object(['x', 'y'], { x: { type: 'integer' }, y: { type: 'integer' } })
const action: JsonObject = object(['type'], {
  type: { type: 'string', enum: [...actionFields.keys()] },
  x: integer('click, double_click, move and scroll: the position.'),
  y: integer('click, double_click, move and scroll: the position.'),
  button: { type: 'string', enum: ['left', 'right', 'wheel', 'back', 'forward'], description: 'click: the button.' },
  path: { type: 'array', items: point, description: 'drag: the positions from the first to the last.' },
  scroll_x: integer('scroll: pixels to the right.'),
  scroll_y: integer('scroll: pixels down.'),
  text: text('type: the text.'),
  keys: texts('keypress: the keys that are pressed together, such as ["CTRL", "S"]. Mouse actions: keys held.'),
})
