// What is asked of the wires in every runtime: each provider's request, what is refused in it, a recording read, formats.

/** The source of a program over `synapse/wires`; it gives all results as one JSON text in `results`. */
export const program = `
  import { prepare, readRequest, readTranscript, refuse, replay, writeTranscript } from 'synapse/wires'
  const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
  const list = [
    { role: 'user', content: 'Wie spät ist es in Köln? 🕰' },
    { role: 'assistant', content: null, tool_calls: [{ id: 'call_0', type: 'function', function: { name: 'time/in zone', arguments: '{"zone":"Europe/Berlin"}' } }] },
    { role: 'tool', tool_call_id: 'call_0', content: '12:00' },
    { role: 'assistant', content: 'Noon.' },
    { role: 'user', content: [{ type: 'text', text: 'And this?' }, { type: 'image_url', image_url: { url: 'data:image/png;base64,' + png } }] },
  ]
  const tools = [{ name: 'time/in zone', input: { type: 'object', properties: { zone: { type: 'string' } } } }]
  const { messages } = readTranscript(list)
  const options = { cacheKey: 'a conversation', maxOutput: 1000 }
  const out = []
  for (const provider of ['openai', 'anthropic', 'google', 'mistral', 'deepseek', 'ollama', 'xai']) {
    const made = prepare({ provider, model: provider === 'ollama' ? 'llama3' : undefined, messages, tools, system: 'Be brief.', options })
    out.push(made, refuse(made.protocol, made.body, { provider }), readRequest(made.protocol, made.body))
  }
  const stream = 'data: {"id":"x","choices":[{"delta":{"content":"Hällo"},"finish_reason":"stop"}]}\\n\\ndata: [DONE]\\n\\n'
  out.push(replay('openai-chat', stream))
  for (const format of ['anthropic-messages', 'claude-code', 'codex', 'chatgpt-export', 'opencode', 'gemini-cli']) {
    try { out.push(writeTranscript(messages, format)) } catch (error) { out.push(error.message) }
  }
  globalThis.results = JSON.stringify(out)
`
