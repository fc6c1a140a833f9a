// The request that would be sent now: the body as it is, and everything in which it differs from the log.

import { assemble } from '../context/prepare.ts'
import type { Talk } from './talk.ts'

export async function preview(talk: Talk): Promise<string> {
  const { endpoint } = await talk.endpoint(talk.settings.model, talk.settings.protocol)
  const entries = await talk.conversation.history()
  const { path, body, notes, estimate } = assemble({
    history: entries.map((entry) => entry.message),
    ...(talk.settings.system && { system: talk.settings.system }),
    tools: talk.settings.tools ?? [],
    protocol: endpoint.protocol,
    target: {
      provider: endpoint.provider.id,
      model: endpoint.model,
      options: { stream: true, cacheKey: talk.conversation.id },
      quirks: endpoint.quirks,
      capabilities: endpoint.capabilities,
    },
  })
  const lines = notes.map((note) => `${note.kind.padEnd(8)} ${note.at ?? ''} ${note.what}: ${note.why}`)
  return [
    `POST ${endpoint.baseUrl}${path}  (about ${estimate.input} tokens)`,
    JSON.stringify(body, null, 2),
    ...lines,
  ].join('\n')
}
