// Each host's answer for an unknown path. Hosts that are not listed answer like OpenAI.

import type { Json } from '../core/json.ts'
import { openaiRefusal, Refusal } from '../wires/shared/refusal.ts'

export function unknownAddress(provider: string | undefined, method: string, path: string): Refusal {
  const form = provider === undefined ? undefined : forms[provider]
  if (form) return form(method, path)
  return openaiRefusal(404, `Invalid URL (${method} ${path})`)
}

type Form = (method: string, path: string) => Refusal

const json = (body: Json): Refusal => new Refusal(404, body)
const text = (body: string, type: string): Refusal => new Refusal(404, body, { 'content-type': type })

const googlePage = (path: string): string =>
  `<!DOCTYPE html>\n<html lang=en>\n<title>Error 404 (Not Found)!!1</title>\n<p><b>404.</b> <ins>That’s an error.</ins>\n` +
  `<p>The requested URL <code>${path.replaceAll(/[<>&"]/g, '')}</code> was not found on this server. <ins>That’s all we know.</ins>\n`

const forms: Record<string, Form> = {
  anthropic: () => json({ type: 'error', error: { type: 'not_found_error', message: 'Not Found' } }),
  // Not JSON: the API's front end answers before the API does.
  google: (_, path) => text(googlePage(path), 'text/html; charset=UTF-8'),
  mistral: () => json({ message: 'no Route matched with those values' }),
  ollama: () => text('404 page not found', 'text/plain'),
  groq: (method, path) =>
    openaiRefusal(404, `Unknown request URL: ${method} ${path}. Please check the URL for typos.`, {
      code: 'unknown_url',
    }),
  vllm: () => json({ detail: 'Not Found' }),
  'llama.cpp': () => json({ error: { code: 404, message: 'File Not Found', type: 'not_found_error' } }),
  lmstudio: (method, path) => json({ error: `Unexpected endpoint or method. (${method} ${path})` }),
}
