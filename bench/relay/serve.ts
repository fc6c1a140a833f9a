// `synapse` from its source: what is measured is what is here, built or not.

import { main } from '../../src/cli/main.ts'

await main(process.argv.slice(2))
