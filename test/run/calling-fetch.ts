// A provider that calls the tool `look` so many times, and then answers in words.

export interface Script {
  fetch: typeof fetch
  /** How many calls are to come before the answer. */
  calls: number
  /** What it answers. */
  answer: string
}

export function repliesWith(asked: () => void = () => {}): Script {
  const script: Script = {
    calls: 0,
    answer: 'Done.',
    async fetch() {
      asked()
      return reply(script.calls > 0 ? script.calls-- : undefined, script.answer)
    },
  }
  return script
}

function reply(number: number | undefined, answer: string): Response {
  const call = {
    index: 0,
    id: `call_${number}`,
    type: 'function',
    function: { name: 'look', arguments: `{"number":${number}}` },
  }
  const delta = number === undefined ? { content: answer } : { tool_calls: [call] }
  const usage = { prompt_tokens: 100, completion_tokens: 10 }
  const chunk = (change: object, finish: string | null): string =>
    `data: ${JSON.stringify({ id: 'r', choices: [{ index: 0, delta: change, finish_reason: finish }], usage })}\n\n`
  const body = chunk(delta, null) + chunk({}, number === undefined ? 'stop' : 'tool_calls')
  return new Response(`${body}data: [DONE]\n\n`, { headers: { 'content-type': 'text/event-stream' } })
}
