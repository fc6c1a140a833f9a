// The interfaces that schema libraries agree on (Standard Schema 1, Standard JSON Schema 1; standardschema.dev), as far
// as they are used here. Written out so that the package needs none of the libraries.

export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>
    /** The library can convert the schema to JSON Schema. */
    readonly jsonSchema?: { readonly input: (options: { readonly target: string }) => Record<string, unknown> }
  }
}

type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] }

export interface StandardIssue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** The output type of a schema. */
export type OutputOf<S extends StandardSchema> = NonNullable<S['~standard']['types']>['output']

export function isStandardSchema(value: object): value is StandardSchema {
  return '~standard' in value
}
