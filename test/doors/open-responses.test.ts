// The Open Responses suite over a provider that is not OpenAI; the others are in open-responses.all.test.ts.

import { passesSuite } from './open-responses.ts'

passesSuite('anthropic/claude-opus-5')
