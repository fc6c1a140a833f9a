// What is loaded when it is first needed. The promises are cached, because an import of a loaded module takes longer than
// resolving a model does.

import type { Catalogue } from './price.ts'
import type { ProviderRow } from './provider.ts'
import type { storedKeyFor } from './stored-key.ts'

let rows: Promise<readonly ProviderRow[]> | undefined
let catalogue: Promise<Catalogue> | undefined
let storedKey: Promise<typeof storedKeyFor> | undefined

export function builtInRows(): Promise<readonly ProviderRow[]> {
  return (rows ??= import('./rows.ts').then((loaded) => loaded.rows))
}

export function loadCatalogue(): Promise<Catalogue> {
  return (catalogue ??= import('./catalogue.ts').then((loaded) => loaded.catalogue))
}

export function loadStoredKeyFor(): Promise<typeof storedKeyFor> {
  return (storedKey ??= import('./stored-key.ts').then((loaded) => loaded.storedKeyFor))
}
