// `synapse` as users run it: from dist/cli, which `npm run bench` builds first.

import type * as CommandLine from '../../src/cli/main.ts'

const { main } = (await import(new URL('../../dist/cli/cli.js', import.meta.url).href)) as typeof CommandLine
await main(process.argv.slice(2))
