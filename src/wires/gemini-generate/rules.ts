// What the API refuses in a generateContent body, in the order in which it checks: first the shape of the JSON, then
// each content by itself, then the order of turns, and last what the model does not support.
//
// Written from recorded answers and Google's own texts. Adjacent contents of one role are merged before the order of
// turns is checked, as in the API (recorded requests, checked 2026-11).

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { geminiVersion } from '../google/models.ts'
import { referenceFault } from '../tool-schema/rules.ts'
import type { Issue, Profile } from '../wire.ts'
import { type Check, createCheck, checkTurns, unknownName } from './rules-messages.ts'
import { dataKeys, field, snake } from './types.ts'
import { valuesIn } from '../shared/json-fields.ts'

export function refuse(body: Json, profile: Profile = {}): Issue[] {
  const issues: Issue[] = []
  const check = createCheck(profile, issues)
  if (!isObject(body)) {
    check.refuse('shape', 'Invalid JSON payload received. Expected an object.')
    return issues
  }
  checkNames(body, '', topFields, check)
  const contents = checkContents(body, check)
  checkTools(body, check)
  if (contents) checkTurns(contents, check)
  checkCache(body, check)
  checkConfig(body, check)
  return issues
}

const topFields = inBothCases(
  'model contents systemInstruction tools toolConfig safetySettings generationConfig cachedContent serviceTier store labels modelArmorConfig',
)
const contentFields = inBothCases('role parts')
const partFields = inBothCases(
  `${dataKeys.join(' ')} thought thoughtSignature videoMetadata mediaResolution mediaProcessing partMetadata audioTranscription speechMetadata`,
)

function inBothCases(names: string): ReadonlySet<string> {
  return new Set(names.split(' ').flatMap((name) => [name, snake(name)]))
}

function checkNames(object: JsonObject, at: string, allowed: ReadonlySet<string>, check: Check): void {
  for (const key of Object.keys(object)) {
    if (!allowed.has(key)) check.refuse('shape', unknownName(key, at))
  }
}

/** The contents as objects, or undefined if they are too broken to check. */
function checkContents(body: JsonObject, check: Check): JsonObject[] | undefined {
  const contents = valuesIn(body.contents)
  if (contents.length === 0) {
    check.refuse('G-10', '* GenerateContentRequest.contents: contents is not specified\n')
    return undefined
  }
  const valid: JsonObject[] = []
  for (const [index, content] of contents.entries()) {
    if (isObject(content)) {
      valid.push(content)
      checkContent(content, index, check)
    } else {
      check.refuse('shape', invalidValue(`contents[${index}]`, 'Content', content))
    }
  }
  return valid.length === contents.length ? valid : undefined
}

function checkContent(content: JsonObject, index: number, check: Check): void {
  const path = `contents[${index}]`
  checkNames(content, path, contentFields, check)
  const { role } = content
  if (role !== undefined && role !== null && role !== '' && role !== 'user' && role !== 'model') {
    check.refuse('G-1', 'Please use a valid role: user, model.')
  }
  const parts = valuesIn(content.parts)
  if (parts.length === 0) {
    const vertex =
      'Unable to submit request because it must include at least one parts field, which describes the prompt input. Learn more: https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/gemini'
    const gemini = `* GenerateContentRequest.${path}.parts: contents.parts must not be empty.\n`
    check.refuse('G-8', check.vertex ? vertex : gemini)
  }
  for (const [position, part] of parts.entries()) checkPart(part, `${path}.parts[${position}]`, check)
}

function checkPart(part: Json, at: string, check: Check): void {
  if (!isObject(part)) {
    check.refuse('shape', invalidValue(at, 'Part', part))
    return
  }
  checkNames(part, at, partFields, check)
  const present = dataKeys.filter((key) => field(part, key) !== undefined && field(part, key) !== null)
  const signature = field(part, 'thoughtSignature')
  // Empty text counts as no data, unless it had a signature: then the key must stay (G-9).
  const empty = present.length === 1 && part.text === '' && !signature
  if (present.length === 0 || empty) {
    check.refuse(
      'G-9',
      `* GenerateContentRequest.${at}.data: required oneof field 'data' must have one initialized field\n`,
    )
  } else if (present.length > 1) {
    const message = `Invalid value at '${at}' (oneof), oneof field 'data' is already set. Cannot set '${snake(present[1] ?? '')}'`
    check.refuse('shape', message)
  }
  if (typeof signature === 'string' && !/^[A-Za-z0-9+/_-]*={0,2}$/.test(signature)) {
    check.refuse('G-7', 'Unable to submit request because Thought signature is not valid.')
  }
  const call = field(part, 'functionCall')
  if (isObject(call)) {
    checkStruct(call.args, `${at}.function_call.args`, check)
    if (typeof call.name !== 'string' || call.name === '') {
      check.refuse('shape', `* GenerateContentRequest.${at}.function_call.name: Name cannot be empty.\n`)
    }
  }
  const result = field(part, 'functionResponse')
  if (isObject(result)) {
    checkStruct(result.response, `${at}.function_response.response`, check)
    if (typeof result.name !== 'string' || result.name === '') {
      check.refuse('shape', `* GenerateContentRequest.${at}.function_response.name: Name cannot be empty.\n`)
    }
  }
}

function checkStruct(value: Json | undefined, at: string, check: Check): void {
  if (value === undefined || value === null || isObject(value)) return
  const message = `Invalid value at '${at}' (type.googleapis.com/google.protobuf.Struct), ${JSON.stringify(value)}`
  check.refuse('shape', message)
}

function invalidValue(at: string, type: string, value: Json): string {
  const full = `type.googleapis.com/google.ai.generativelanguage.v1beta.${type}`
  return `Invalid value at '${at}' (${full}), ${JSON.stringify(value)}`
}

function checkCache(body: JsonObject, check: Check): void {
  if (!field(body, 'cachedContent')) return
  if (['systemInstruction', 'tools', 'toolConfig'].some((name) => field(body, name) !== undefined)) {
    const message =
      'CachedContent can not be used with GenerateContent request setting system_instruction, tools or tool_config.'
    check.refuse('G-13', message)
  }
}

/** G-15: before Gemini 3, a JSON answer cannot be combined with functions. */
function checkAnswer(body: JsonObject, config: JsonObject, check: Check): void {
  const schema = field(config, 'responseJsonSchema')
  const fault = isObject(schema) ? referenceFault(schema) : undefined
  if (fault !== undefined) check.refuse('G-12', fault)
  const version = geminiVersion(check.profile.model)
  if (version === undefined || version >= 300 || field(config, 'responseMimeType') !== 'application/json') return
  const functions = valuesIn(body.tools).some(
    (tool) => isObject(tool) && valuesIn(field(tool, 'functionDeclarations')).length > 0,
  )
  if (!functions) return
  check.refuse('G-15', "Function calling with a response mime type: 'application/json' is unsupported")
}

function checkConfig(body: JsonObject, check: Check): void {
  const config = field(body, 'generationConfig')
  if (!isObject(config)) return
  checkAnswer(body, config, check)
  const version = geminiVersion(check.profile.model)
  const newest = version !== undefined && version >= 307
  const thinking = field(config, 'thinkingConfig')
  if (isObject(thinking)) {
    const level = field(thinking, 'thinkingLevel')
    const hasLevel = typeof level === 'string'
    if (hasLevel && field(thinking, 'thinkingBudget') !== undefined) {
      check.refuse('G-14', 'You can only set only one of thinking budget and thinking level.')
    } else if (hasLevel && version !== undefined && version < 300) {
      check.refuse('G-14', 'Thinking level is not supported for this model.')
    } else if (hasLevel && newest && level.toUpperCase() === 'MINIMAL') {
      check.refuse('G-14', 'Thinking level MINIMAL is not supported for this model.')
    }
  }
  // Zero is accepted (google-gemini/cookbook#1290, checked 2026-11).
  if (
    version !== undefined &&
    version >= 205 &&
    (field(config, 'presencePenalty') || field(config, 'frequencyPenalty'))
  ) {
    check.refuse('G-14', 'Penalty is not enabled for this model')
  }
  const candidates = field(config, 'candidateCount')
  if (newest && typeof candidates === 'number' && candidates > 1) {
    check.refuse('G-14', 'Multiple candidates is not enabled for this model')
  }
}

// Tool declarations. `parameters` is a protobuf message with a fixed set of fields, so anything else in it is a parse
// error; `parametersJsonSchema` is free JSON.

function checkTools(body: JsonObject, check: Check): void {
  const names = new Set<string>()
  let count = 0
  for (const [index, tool] of valuesIn(body.tools).entries()) {
    if (!isObject(tool)) continue
    for (const [position, declaration] of valuesIn(field(tool, 'functionDeclarations')).entries()) {
      count++
      if (isObject(declaration)) {
        checkDeclaration(declaration, `tools[${index}].function_declarations[${position}]`, names, check)
      }
    }
  }
  if (count > 512) check.refuse('shape', 'Request contains an invalid argument.')
}

function checkDeclaration(declaration: JsonObject, at: string, names: Set<string>, check: Check): void {
  const { name, parameters } = declaration
  if (typeof name !== 'string' || !/^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$/.test(name)) {
    check.refuse(
      'shape',
      `* GenerateContentRequest.${at}.name: Invalid function name. Must start with a letter or an underscore. Must be alphameric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 128.\n`,
    )
  } else if (names.has(name)) {
    check.refuse('shape', `Duplicate function declaration found: ${name}`)
  } else {
    names.add(name)
  }
  const schema = field(declaration, 'parametersJsonSchema')
  if (isObject(schema)) checkJsonSchema(schema, String(name), check)
  if (!isObject(parameters)) return
  if (isObject(schema)) {
    check.refuse('G-12', 'Request contains an invalid argument.')
    return
  }
  checkSchema(parameters, { parse: `${at}.parameters`, validate: `${at}.parameters` }, check)
}

/** The arguments are an object, and references resolve. Unknown keywords are ignored. */
function checkJsonSchema(schema: JsonObject, name: string, check: Check): void {
  if (schema.type !== 'object') {
    const message = `Unable to submit request because \`${name}\` functionDeclaration \`parameters\` schema should be of type OBJECT. Learn more: https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/function-calling`
    check.refuse('G-12', message)
  }
  const fault = referenceFault(schema)
  if (fault !== undefined) check.refuse('G-12', fault)
}

/** The parser names a property by its number, the validator by its name. */
interface Place {
  parse: string
  validate: string
}

const schemaFields =
  'type format title description nullable enum items minItems maxItems properties required minProperties maxProperties minLength maxLength pattern example anyOf propertyOrdering default minimum maximum'.split(
    ' ',
  )
const knownFields: ReadonlySet<string> = new Set([...schemaFields, ...schemaFields.map(snake)])
/** Vertex has these as well. */
const vertexFields: ReadonlySet<string> = new Set(['additionalProperties', 'additional_properties', 'defs', 'ref'])

function checkSchema(schema: JsonObject, place: Place, check: Check): void {
  for (const key of Object.keys(schema)) {
    if (knownFields.has(key) || (check.vertex && vertexFields.has(key))) continue
    check.refuse('G-12', unknownName(key, place.parse))
  }
  const { type, items, properties } = schema
  if (typeof type === 'string' && type.toUpperCase() === 'ARRAY' && items === undefined) {
    check.refuse('G-12', `* GenerateContentRequest.${place.validate}.items: missing field.\n`)
  }
  if (isObject(items)) checkSchema(items, inside(place, 'items'), check)
  for (const [index, option] of valuesIn(field(schema, 'anyOf')).entries()) {
    if (isObject(option)) checkSchema(option, inside(place, `any_of[${index}]`), check)
  }
  for (const [index, [name, property]] of (isObject(properties) ? Object.entries(properties) : []).entries()) {
    const position = {
      parse: `${place.parse}.properties[${index}].value`,
      validate: `${place.validate}.properties[${name}]`,
    }
    checkProperty(property, position, check)
  }
}

function checkProperty(property: Json | undefined, place: Place, check: Check): void {
  if (isObject(property)) checkSchema(property, place, check)
}

function inside(place: Place, step: string): Place {
  return { parse: `${place.parse}.${step}`, validate: `${place.validate}.${step}` }
}
