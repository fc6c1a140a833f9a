// The subset of JSON Schema that each provider supports, as data: one description per dialect. A row names the dialect
// of its host if it differs from that of its wire (`Quirks.toolSchema`). Facts checked 2026-11; sources are in
// docs/tool-schemas.md.

export interface SchemaDialect {
  /** The provider, for notes. */
  reader: string
  /** The number of the rule, for notes. */
  rule: string
  /** The supported keywords; or a list of exceptions if all others are supported. */
  keywords: { only: ReadonlySet<string> } | { except: ReadonlySet<string> }
  /** `anyOf`, `oneOf`, `allOf`, `enum`, `const` and `not` may be at the top. */
  rootUnions: boolean
  /** An object at the top must list its properties, even if there are none. */
  rootProperties: boolean
  /** The top may have a description; otherwise it goes into that of the tool. */
  rootDescription: boolean
  /** The form of a tuple: as in draft 2020-12, or as an array of any of its members, with the order in words. */
  tuples: 'prefixItems' | 'array'
  /** `keep`: references to `$defs` stay. `inline`: their targets replace them. */
  refs: 'keep' | 'inline'
  /** Keywords allowed next to `$ref`; absent: all. */
  refSiblings?: ReadonlySet<string>
  /**
   * A definition may be recursive only if the recursion can end: through an optional or nullable property or an empty
   * list.
   */
  endingLoops?: true
  /** `true` and `false` are schemas. */
  booleans: boolean
  /** An array must have `items`. */
  itemsNeeded?: true
  /** Every schema must have a type, a reference or a choice. */
  typeNeeded?: true
  /** Every member of a choice has a type, and the schema around it has none. */
  typedChoices?: true
  /** `required` may only list existing properties. */
  requiredDefined?: true
  /** An empty list of required properties is allowed. */
  emptyRequired: boolean
  /** An object with properties must require at least one. */
  requiredNeeded?: true
  /** Types of values in an `enum`; absent: all. */
  enumTypes?: ReadonlySet<string>
  /** The supported values of `format`; absent: all. */
  formats?: ReadonlySet<string>
  /** Objects must be closed: `additionalProperties: false`. */
  closedObjects?: true
  /** The maximum of `minItems`. */
  mostMinItems?: number
  /** The nesting limit; what is deeper goes into the description. */
  maxDepth: number
  /** The total number of schemas, after which a definition is not written a second time but referred to in words. */
  maxNodes: number
}

function keywords(list: string): ReadonlySet<string> {
  return new Set(list.split(' '))
}

const usual = { rootDescription: true, maxDepth: 32, maxNodes: 2000 }

/** JSON Schema draft 2020-12, with an object at the top. */
const anthropic: SchemaDialect = {
  reader: 'Anthropic',
  rule: 'R-24',
  keywords: { except: keywords('definitions additionalItems') },
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
  keywords: { except: keywords('prefixItems additionalItems') },
  rootUnions: false,
  rootProperties: true,
  tuples: 'array',
  refs: 'keep',
  booleans: true,
  itemsNeeded: true,
  emptyRequired: true,
  ...usual,
}

/** Hosts of the chat wire that only require an object at the top, and all unknown hosts. */
const compatible: SchemaDialect = { ...openai, reader: 'the host', requiredDefined: true }

/** The keywords that Google lists for `parametersJsonSchema` and `responseJsonSchema`. */
const gemini: SchemaDialect = {
  reader: 'Gemini',
  rule: 'G-12',
  keywords: {
    only: keywords(
      '$id $anchor $ref $defs type format title description enum items prefixItems minItems maxItems minimum maximum anyOf oneOf properties additionalProperties required propertyOrdering',
    ),
  },
  rootUnions: false,
  rootProperties: false,
  tuples: 'prefixItems',
  refs: 'keep',
  refSiblings: keywords('$ref description'),
  endingLoops: true,
  booleans: false,
  // An empty list caused a 400 on Interactions.
  emptyRequired: false,
  enumTypes: keywords('string number'),
  ...usual,
}

/** Draft 7; `$id` and `$schema` break its grammar compiler. */
const mistral: SchemaDialect = {
  reader: 'Mistral',
  rule: 'T-13',
  keywords: { except: keywords('$schema $id $anchor prefixItems additionalItems') },
  rootUnions: false,
  rootProperties: false,
  tuples: 'array',
  refs: 'keep',
  booleans: true,
  emptyRequired: true,
  ...usual,
}

/** The fields of Ollama's own types: the server silently drops everything else. */
const ollama: SchemaDialect = {
  reader: 'Ollama',
  rule: 'O-8',
  keywords: { only: keywords('type items description enum anyOf properties required') },
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
  keywords: { except: keywords('$schema $id $anchor oneOf allOf const not prefixItems additionalItems') },
  refs: 'inline',
  booleans: false,
  typeNeeded: true,
  typedChoices: true,
  enumTypes: keywords('string number boolean'),
}

const fireworks: SchemaDialect = { ...moonshot, reader: 'Fireworks', rule: 'tool-schema' }

/** The server converts the schema to a grammar, with the keywords that its converter supports. */
const llama: SchemaDialect = {
  ...compatible,
  reader: 'llama.cpp',
  keywords: {
    only: keywords(
      '$defs $ref type format title description enum const items minItems maxItems minimum maximum exclusiveMinimum exclusiveMaximum minLength maxLength pattern anyOf oneOf allOf properties additionalProperties required default',
    ),
  },
  refSiblings: keywords('$ref description title default'),
  booleans: false,
  typeNeeded: true,
}

/** What its published errors require: an object at the top, types everywhere, required properties that exist. */
const cohere: SchemaDialect = {
  ...compatible,
  reader: 'Cohere',
  rule: 'CO-14',
  booleans: false,
  typeNeeded: true,
}

export const toolDialects = {
  anthropic,
  openai,
  compatible,
  gemini,
  mistral,
  ollama,
  moonshot,
  fireworks,
  llama,
  cohere,
}

export type ToolDialect = keyof typeof toolDialects

/** Answers are constrained by a grammar, which supports fewer keywords. */
export const answerDialects = {
  openai: { ...openai, reader: 'a structured answer' },
  anthropic: {
    ...anthropic,
    reader: 'a structured answer',
    keywords: {
      except: keywords(
        'definitions additionalItems minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength maxItems uniqueItems minProperties maxProperties',
      ),
    },
    formats: keywords('date-time time date duration email hostname uri ipv4 ipv6 uuid'),
    closedObjects: true,
    mostMinItems: 1,
  },
  gemini,
  mistral: { ...mistral, reader: 'a structured answer' },
  /**
   * The documentation of Cohere lists `anyOf`, references and `pattern` as supported, `oneOf`, `allOf`, `not`, ranges,
   * lengths and `uniqueItems` as not, and four formats. References are inlined and patterns described in words anyway:
   * the form of definitions is not documented, and `^`, `$`, `?=` and `?!` are not supported in patterns.
   */
  cohere: {
    ...cohere,
    reader: 'a structured answer',
    rootProperties: false,
    keywords: {
      only: keywords('type anyOf properties required items enum const format title description additionalProperties'),
    },
    refs: 'inline',
    requiredNeeded: true,
    formats: keywords('date-time date time uuid'),
  },
  /** Hosts that have refused bounds on lists. */
  bounded: {
    ...compatible,
    reader: 'a structured answer',
    rootProperties: false,
    keywords: { except: keywords('prefixItems additionalItems minItems maxItems') },
  },
  compatible: { ...compatible, reader: 'a structured answer', rootProperties: false },
} satisfies Record<string, SchemaDialect>

export type AnswerDialect = keyof typeof answerDialects

export function supportsKeyword(dialect: SchemaDialect, keyword: string): boolean {
  return 'only' in dialect.keywords ? dialect.keywords.only.has(keyword) : !dialect.keywords.except.has(keyword)
}
