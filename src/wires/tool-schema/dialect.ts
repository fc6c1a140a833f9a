// Which part of JSON Schema each provider reads, as data: one description per dialect. A row names the dialect of its
// host where it differs from the one of its wire (`Quirks.toolSchema`). Facts checked 2026-11; sources are in
// docs/tool-schemas.md.

export interface SchemaDialect {
  /** Who reads it, for notes. */
  reader: string
  /** The rule that a note names. */
  rule: string
  /** The keywords that are read; a list of exceptions where all others are. */
  keywords: { only: ReadonlySet<string> } | { except: ReadonlySet<string> }
  /** `anyOf`, `oneOf`, `allOf`, `enum`, `const` and `not` may stand at the top. */
  rootUnions: boolean
  /** An object at the top must list its properties, even if there are none. */
  rootProperties: boolean
  /** The top may have a description; else it goes into the one of the tool. */
  rootDescription: boolean
  /** How a tuple is written: as in draft 2020-12, or as an array of any of its members, with the order in words. */
  tuples: 'prefixItems' | 'array'
  /** `keep`: references to `$defs` stay. `inline`: what they lead to is written in their place. */
  refs: 'keep' | 'inline'
  /** Keywords that may stand beside `$ref`; absent: all. */
  besideRef?: ReadonlySet<string>
  /** A definition may lead back to itself only where the loop can end: through an optional or nullable property or an empty list. */
  endingLoops?: true
  /** `true` and `false` are schemas. */
  booleans: boolean
  /** An array must say what its items are. */
  itemsNeeded?: true
  /** Every schema must have a type, a reference or a choice. */
  typeNeeded?: true
  /** Every member of a choice has a type of its own, and the schema around it has none. */
  typedChoices?: true
  /** What `required` names must be among the properties. */
  requiredDefined?: true
  /** An empty list of required properties is read. */
  emptyRequired: boolean
  /** Types of values that an `enum` may list; absent: all. */
  enumTypes?: ReadonlySet<string>
  /** The values of `format` that are known; absent: all. */
  formats?: ReadonlySet<string>
  /** Objects must be closed: `additionalProperties: false`. */
  closedObjects?: true
  /** The most that `minItems` may say. */
  mostMinItems?: number
  /** Schemas inside schemas; what is deeper goes into the description. */
  maxDepth: number
  /** Schemas in all, after which a definition is not written a second time but referred to in words. */
  maxNodes: number
}

function words(list: string): ReadonlySet<string> {
  return new Set(list.split(' '))
}

const usual = { rootDescription: true, maxDepth: 32, maxNodes: 2000 }

/** JSON Schema draft 2020-12, with an object at the top. */
const anthropic: SchemaDialect = {
  reader: 'Anthropic',
  rule: 'R-24',
  keywords: { except: words('definitions additionalItems') },
  rootUnions: false,
  rootProperties: false,
  tuples: 'prefixItems',
  refs: 'keep',
  booleans: true,
  emptyRequired: true,
  ...usual,
}

const openai: SchemaDialect = {
  reader: 'OpenAI',
  rule: 'tool-schema',
  keywords: { except: words('prefixItems additionalItems') },
  rootUnions: false,
  rootProperties: true,
  tuples: 'array',
  refs: 'keep',
  booleans: true,
  itemsNeeded: true,
  emptyRequired: true,
  ...usual,
}

/** Hosts of the chat wire that only ask for an object at the top, and whoever is not known better. */
const compatible: SchemaDialect = { ...openai, reader: 'the host', requiredDefined: true }

/** The keywords that Google lists for `parametersJsonSchema` and `responseJsonSchema`. */
const gemini: SchemaDialect = {
  reader: 'Gemini',
  rule: 'G-12',
  keywords: {
    only: words(
      '$id $anchor $ref $defs type format title description enum items prefixItems minItems maxItems minimum maximum anyOf oneOf properties additionalProperties required propertyOrdering',
    ),
  },
  rootUnions: false,
  rootProperties: false,
  tuples: 'prefixItems',
  refs: 'keep',
  besideRef: words('$ref description'),
  endingLoops: true,
  booleans: false,
  // An empty list has been answered with 400 on Interactions.
  emptyRequired: false,
  enumTypes: words('string number'),
  ...usual,
}

/** Draft 7; `$id` and `$schema` stop the compiler of its grammars. */
const mistral: SchemaDialect = {
  reader: 'Mistral',
  rule: 'T-13',
  keywords: { except: words('$schema $id $anchor prefixItems additionalItems') },
  rootUnions: false,
  rootProperties: false,
  tuples: 'array',
  refs: 'keep',
  booleans: true,
  emptyRequired: true,
  ...usual,
}

/** The fields of Ollama's own types: what else a schema says is left out by the server without a word. */
const ollama: SchemaDialect = {
  reader: 'Ollama',
  rule: 'O-8',
  keywords: { only: words('type items description enum anyOf properties required') },
  rootUnions: false,
  rootProperties: true,
  tuples: 'array',
  refs: 'inline',
  booleans: false,
  emptyRequired: true,
  ...usual,
  rootDescription: false,
}

/** "Moonshot flavored JSON Schema". */
const moonshot: SchemaDialect = {
  ...compatible,
  reader: 'Moonshot',
  keywords: { except: words('$schema $id $anchor oneOf allOf const not prefixItems additionalItems') },
  refs: 'inline',
  booleans: false,
  typeNeeded: true,
  typedChoices: true,
  enumTypes: words('string number boolean'),
}

const fireworks: SchemaDialect = { ...moonshot, reader: 'Fireworks', rule: 'tool-schema' }

/** The server makes a grammar of the schema, from the keywords that its converter has. */
const llama: SchemaDialect = {
  ...compatible,
  reader: 'llama.cpp',
  keywords: {
    only: words(
      '$defs $ref type format title description enum const items minItems maxItems minimum maximum exclusiveMinimum exclusiveMaximum minLength maxLength pattern anyOf oneOf allOf properties additionalProperties required default',
    ),
  },
  besideRef: words('$ref description title default'),
  booleans: false,
  typeNeeded: true,
}

export const toolDialects = { anthropic, openai, compatible, gemini, mistral, ollama, moonshot, fireworks, llama }

export type ToolDialect = keyof typeof toolDialects

/** Answers are held to the schema by a grammar, which fewer keywords can be made into. */
export const answerDialects = {
  openai: { ...openai, reader: 'a structured answer' },
  anthropic: {
    ...anthropic,
    reader: 'a structured answer',
    keywords: {
      except: words(
        'definitions additionalItems minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength maxItems uniqueItems minProperties maxProperties',
      ),
    },
    formats: words('date-time time date duration email hostname uri ipv4 ipv6 uuid'),
    closedObjects: true,
    mostMinItems: 1,
  },
  gemini,
  mistral: { ...mistral, reader: 'a structured answer' },
  /** Hosts that have refused bounds on lists. */
  bounded: {
    ...compatible,
    reader: 'a structured answer',
    rootProperties: false,
    keywords: { except: words('prefixItems additionalItems minItems maxItems') },
  },
  compatible: { ...compatible, reader: 'a structured answer', rootProperties: false },
} satisfies Record<string, SchemaDialect>

export type AnswerDialect = keyof typeof answerDialects

export function reads(dialect: SchemaDialect, keyword: string): boolean {
  return 'only' in dialect.keywords ? dialect.keywords.only.has(keyword) : !dialect.keywords.except.has(keyword)
}
