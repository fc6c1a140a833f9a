// The package as users load it: `openSynapse` and `defineTool` of dist/js, which bench/run.ts builds first. The source
// would be measured with its types being stripped, in a hundred files.

import type * as Library from '../src/index.ts'

export const { openSynapse, defineTool } = (await import(
  new URL('../dist/js/index.js', import.meta.url).href
)) as typeof Library
