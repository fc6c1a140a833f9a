// Tool declarations. `parameters` is a protobuf message with a fixed set of fields, so anything else in it is a parse
// error; `parametersJsonSchema` is free JSON.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { referenceFault } from '../tool-schema/gemini-rules.ts'
import { unknownName, type Check } from './rules-context.ts'
import { field, listOf, snake } from './types.ts'

export function checkTools(body: JsonObject, check: Check): void {
  const names = new Set<string>()
  let count = 0
  for (const [index, tool] of listOf(body.tools).entries()) {
    if (!isObject(tool)) continue
    for (const [place, declaration] of listOf(field(tool, 'functionDeclarations')).entries()) {
      count++
      if (isObject(declaration)) {
        checkDeclaration(declaration, `tools[${index}].function_declarations[${place}]`, names, check)
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

function checkSchema(schema: JsonObject, at: Place, check: Check): void {
  for (const key of Object.keys(schema)) {
    if (knownFields.has(key) || (check.vertex && vertexFields.has(key))) continue
    check.refuse('G-12', unknownName(key, at.parse))
  }
  const { type, items, properties } = schema
  if (typeof type === 'string' && type.toUpperCase() === 'ARRAY' && items === undefined) {
    check.refuse('G-12', `* GenerateContentRequest.${at.validate}.items: missing field.\n`)
  }
  if (isObject(items)) checkSchema(items, inside(at, 'items'), check)
  for (const [index, option] of listOf(field(schema, 'anyOf')).entries()) {
    if (isObject(option)) checkSchema(option, inside(at, `any_of[${index}]`), check)
  }
  for (const [index, [name, property]] of (isObject(properties) ? Object.entries(properties) : []).entries()) {
    const place = {
      parse: `${at.parse}.properties[${index}].value`,
      validate: `${at.validate}.properties[${name}]`,
    }
    checkProperty(property, place, check)
  }
}

function checkProperty(property: Json | undefined, at: Place, check: Check): void {
  if (isObject(property)) checkSchema(property, at, check)
}

function inside(at: Place, step: string): Place {
  return { parse: `${at.parse}.${step}`, validate: `${at.validate}.${step}` }
}
