// A provider that answers at once with one short message, in the form of OpenAI's chat completions.

const chunks = [
  { id: 'r', choices: [{ index: 0, delta: { role: 'assistant', content: 'Noted.' }, finish_reason: null }] },
  {
    id: 'r',
    choices: [{ index: 0, delta: {}, finish_reason: 'stop' }],
    usage: { prompt_tokens: 9, completion_tokens: 2 },
  },
]
const body = `${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')}data: [DONE]\n\n`

export async function answer(): Promise<Response> {
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
}
