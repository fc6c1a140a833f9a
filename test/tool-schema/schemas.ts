// Schemas of tools as servers and libraries write them: one of each form that some provider refuses or does not read.

import type { JsonObject } from '../../src/core/json.ts'

const text = { type: 'string' }
const number = { type: 'number' }

/** A chain of definitions, each used twice by the one before: inlined without a limit it has 2 to the 24 leaves. */
function doubling(levels: number): JsonObject {
  const $defs: JsonObject = { [`level${levels}`]: { type: 'object', properties: { leaf: text } } }
  for (let i = 0; i < levels; i++) {
    const $ref = `#/$defs/level${i + 1}`
    $defs[`level${i}`] = { type: 'object', properties: { [`left${i}`]: { $ref }, [`right${i}`]: { $ref } } }
  }
  return { type: 'object', properties: { top: { $ref: '#/$defs/level0' } }, $defs }
}

function nested(levels: number): JsonObject {
  let schema: JsonObject = text
  for (let i = levels; i > 0; i--) schema = { type: 'object', properties: { [`step${i}`]: schema } }
  return schema
}

export const schemas: Record<string, JsonObject> = {
  'no arguments': { type: 'object', properties: {} },
  'an empty schema': {},
  'an object without properties': { type: 'object' },
  'plain properties': { type: 'object', properties: { city: text, days: { type: 'integer' } }, required: ['city'] },
  'a name of a keyword as a property': {
    type: 'object',
    properties: {
      type: text,
      properties: text,
      required: text,
      enum: text,
      description: text,
      items: text,
    },
    required: ['required'],
  },
  'a property that is called $ref': { type: 'object', properties: { $ref: text } },
  'bounds and patterns': {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'https://example.com/tool',
    type: 'object',
    properties: {
      age: { type: 'integer', minimum: 0, exclusiveMaximum: 150, multipleOf: 1 },
      code: { type: 'string', minLength: 2, maxLength: 8, pattern: '^[a-z]+$' },
      tags: { type: 'array', items: text, minItems: 1, maxItems: 5, uniqueItems: true },
    },
    minProperties: 1,
  },
  'formats and annotations': {
    type: 'object',
    properties: {
      at: { type: 'string', format: 'date-time', examples: ['2026-11-16T12:00:00Z'] },
      link: { type: 'string', format: 'uri', default: 'https://example.com', deprecated: true },
      odd: { type: 'string', format: 'iso-currency', 'x-hint': 'three letters' },
    },
  },
  'oneOf at the top': {
    oneOf: [
      { type: 'object', properties: { kind: { const: 'circle' }, radius: number }, required: ['kind', 'radius'] },
      { type: 'object', properties: { kind: { const: 'square' }, side: number }, required: ['kind', 'side'] },
    ],
  },
  'anyOf at the top, beside an object': {
    type: 'object',
    properties: { route: text, file: text },
    anyOf: [{ required: ['route'] }, { required: ['file'] }],
  },
  'anyOf at the top with other properties of one name': {
    type: 'object',
    anyOf: [
      { properties: { id: number }, required: ['id'] },
      { properties: { id: text, strictly: { type: 'boolean' } }, required: ['id'] },
    ],
  },
  'allOf at the top': {
    allOf: [
      { type: 'object', properties: { page: { type: 'integer' } } },
      { type: 'object', properties: { query: text }, required: ['query'] },
    ],
  },
  'allOf of definitions': {
    type: 'object',
    properties: { own: text },
    allOf: [{ $ref: '#/$defs/Paging' }, { properties: { sort: text } }],
    $defs: { Paging: { type: 'object', properties: { limit: { type: 'integer', minimum: 1 }, cursor: text } } },
  },
  'allOf inside, with bounds twice': {
    type: 'object',
    properties: {
      size: {
        allOf: [
          { type: 'number', minimum: 1 },
          { type: 'integer', minimum: 3, description: 'In cm.' },
        ],
      },
    },
  },
  'enum at the top': { type: 'object', enum: [{ mode: 'a' }, { mode: 'b' }] },
  'not at the top': { type: 'object', properties: { a: text, b: text }, not: { required: ['a', 'b'] } },
  'a string at the top': { type: 'string', description: 'What to say.' },
  'a list at the top': { type: 'array', items: { type: 'object', properties: { name: text } } },
  'a choice of objects and strings at the top': {
    anyOf: [{ type: 'string' }, { type: 'object', properties: { name: text } }],
  },
  'null beside an object at the top': { type: ['object', 'null'], properties: { name: text } },
  'a reference at the top': {
    $ref: '#/$defs/Query',
    $defs: { Query: { type: 'object', properties: { words: text }, required: ['words'] } },
  },
  'a choice inside': {
    type: 'object',
    properties: {
      target: {
        oneOf: [
          { type: 'object', properties: { path: text }, required: ['path'] },
          { type: 'object', properties: { url: text }, required: ['url'] },
        ],
      },
      when: { anyOf: [{ type: 'string' }, { type: 'integer' }, { type: 'null' }] },
    },
  },
  'a choice inside with the type around it': {
    type: 'object',
    properties: {
      filter: {
        type: 'object',
        properties: { field: text },
        anyOf: [{ required: ['field'] }, { properties: { all: { type: 'boolean' } }, required: ['all'] }],
      },
      name: { type: 'string', anyOf: [{ minLength: 1 }, { const: '*' }] },
    },
  },
  'a tuple of draft 7': {
    type: 'object',
    properties: {
      point: { type: 'array', items: [number, number], minItems: 2, maxItems: 2 },
      pair: {
        type: 'array',
        items: [text, { type: 'object', properties: { weight: number } }],
        additionalItems: false,
      },
    },
  },
  'a tuple of draft 2020-12': {
    type: 'object',
    properties: {
      range: {
        type: 'array',
        prefixItems: [{ type: 'integer', description: 'from' }, { type: 'integer' }],
        items: false,
      },
      rest: { type: 'array', prefixItems: [text], items: number },
    },
  },
  definitions: {
    type: 'object',
    properties: { home: { $ref: '#/$defs/Address' }, work: { $ref: '#/$defs/Address', description: 'In the day.' } },
    $defs: { Address: { type: 'object', properties: { street: text, zip: text }, required: ['street'] } },
  },
  'definitions of draft 7, with keywords beside': {
    type: 'object',
    properties: { at: { $ref: '#/definitions/place', default: { x: 0 }, title: 'Place' } },
    definitions: { place: { type: 'object', properties: { x: number, y: number } } },
  },
  'a reference to a property': {
    type: 'object',
    properties: { headers: { type: 'object', properties: { accept: text } }, more: { $ref: '#/properties/headers' } },
  },
  'a reference that leads nowhere': {
    type: 'object',
    properties: { lost: { $ref: '#/$defs/Missing' }, far: { $ref: 'https://example.com/schema.json' } },
  },
  'recursion that can end': {
    type: 'object',
    properties: { tree: { $ref: '#/$defs/Node' } },
    required: ['tree'],
    $defs: {
      Node: { type: 'object', properties: { label: text, kids: { type: 'array', items: { $ref: '#/$defs/Node' } } } },
    },
  },
  'recursion that cannot end': {
    type: 'object',
    properties: { where: { $ref: '#/$defs/Both' } },
    $defs: {
      Both: {
        type: 'object',
        properties: { left: { $ref: '#/$defs/Side' }, right: { $ref: '#/$defs/Side' } },
        required: ['left', 'right'],
      },
      Side: { anyOf: [{ $ref: '#/$defs/Both' }, { type: 'object', properties: { equals: text } }] },
    },
  },
  'recursion of the whole': {
    type: 'object',
    properties: { and: { type: 'array', items: { $ref: '#' } }, is: text },
  },
  'definitions that double': doubling(24),
  depth: nested(60),
  'boolean schemas': {
    type: 'object',
    properties: { any: true, never: false, list: { type: 'array', items: true } },
    additionalProperties: false,
  },
  'open objects': {
    type: 'object',
    properties: {
      labels: { type: 'object', additionalProperties: text },
      free: { type: 'object', additionalProperties: true },
      env: { type: 'object', patternProperties: { '^[A-Z]+$': text }, propertyNames: { pattern: '^[A-Z]+$' } },
    },
    additionalProperties: true,
  },
  'constants and enums': {
    type: 'object',
    properties: {
      version: { const: 2 },
      flag: { const: true },
      unit: { type: 'string', enum: ['c', 'f'] },
      level: { enum: [1, 2, 3] },
      maybe: { type: ['string', 'null'], enum: ['a', 'b', null] },
      mixed: { enum: ['auto', 1, false, null] },
      none: { type: 'string', enum: [] },
    },
  },
  'nullable in three ways': {
    type: 'object',
    properties: {
      a: { type: ['string', 'null'] },
      b: { type: 'string', nullable: true },
      c: { anyOf: [text, { type: 'null' }], default: null },
    },
  },
  conditions: {
    type: 'object',
    properties: { method: text, body: text },
    if: { properties: { method: { const: 'POST' } } },
    // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
    then: { required: ['body'] },
    else: { properties: { cache: { type: 'boolean' } } },
    dependentRequired: { body: ['method'] },
  },
  'what is only required': { type: 'object', required: ['secret'] },
  'required inside that is not defined': {
    type: 'object',
    properties: { job: { type: 'object', properties: { codec: text }, required: ['codec', 'rate'] } },
  },
  'an empty list of required': { type: 'object', properties: { a: text }, required: [] },
  'arrays that do not say of what': {
    type: 'object',
    properties: { rows: { type: 'array' }, either: { type: ['array', 'string'] } },
  },
  'no types at all': {
    properties: {
      value: {},
      note: { description: 'Whatever.' },
      inner: { properties: { deep: {} } },
      list: { items: text },
    },
  },
  'types of nobody': {
    type: 'object',
    properties: { a: { type: 'any' }, b: { type: 'int' }, c: { type: 'STRING' }, d: { type: '' }, e: { type: [] } },
  },
  'draft 3 and 4': {
    type: 'object',
    properties: {
      count: { type: 'integer', minimum: 0, exclusiveMinimum: true, required: true },
      rate: { type: 'number', maximum: 1, exclusiveMaximum: false },
    },
  },
  'values of the wrong kind': {
    type: 'object',
    properties: {
      a: { type: 'string', minLength: '3', enum: 'x' },
      b: { type: 'array', items: null, minItems: -1 },
      c: { type: 'object', properties: [], required: null, description: 5 },
      d: { type: 'string', anyOf: [] },
    },
    required: ['a', 'a', 3],
  },
}
