// The Open Responses suite over every wire.

import { passesSuite } from './open-responses.ts'

for (const model of [
  'openai/gpt-5.6',
  'google/gemini-3-flash-preview',
  'mistral/mistral-large-latest',
  'ollama/llama3.2',
]) {
  passesSuite(model)
}
