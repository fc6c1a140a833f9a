// Chat requests in the form of another API, as Cursor sends them (reported by the authors of other gateways): the
// official client reads the answers as chat completions.

import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import OpenAI from 'openai'
import { ChatCompletionStream } from 'openai/lib/ChatCompletionStream'
import type { JsonObject } from '../../src/core/json.ts'
import { serving } from '../server/serving.ts'
import { providers } from './any-history.ts'

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const location = { type: 'object', properties: { location: { type: 'string' } }, required: ['location'] }
const patch = '*** Begin Patch\n*** Delete File: a.txt\n*** End Patch'

async function asking(t: TestContext, model: string) {
  const { url, emulator } = await serving(t)
  const openai = new OpenAI({ apiKey: 'placeholder', baseURL: `${url}/v1`, maxRetries: 0 })
  const ask = async (body: JsonObject) => {
    const asked = { ...body, model } as unknown as OpenAI.ChatCompletionCreateParams
    if (!asked.stream) return openai.chat.completions.create({ ...asked, stream: false })
    const stream = await openai.chat.completions.create(asked)
    return ChatCompletionStream.fromReadableStream(stream.toReadableStream()).finalChatCompletion()
  }
  const lastSent = () => JSON.stringify(emulator.requests.at(-1)?.body)
  return { ask, lastSent }
}

for (const model of providers) {
  for (const stream of [false, true]) {
    const how = `${model}, ${stream ? 'streamed' : 'whole'}`

    test(`a Responses request at the address of chat completions is answered as a chat over ${how}`, async (t) => {
      const { ask, lastSent } = await asking(t, model)
      const tools = [
        { type: 'function', name: 'read_file', description: 'Reads.', parameters: location },
        {
          type: 'custom',
          name: 'ApplyPatch',
          description: 'Patches.',
          format: { type: 'grammar', syntax: 'lark', definition: 'start: /(.|\\n)+/' },
        },
      ]
      const common = {
        instructions: 'Be brief.',
        tools,
        reasoning: { effort: 'low' },
        text: { verbosity: 'low' },
        stream,
      }
      const input: JsonObject[] = [
        { role: 'system', content: 'You are a coding agent.' },
        {
          role: 'user',
          content: [
            { type: 'input_text', text: `use the tool ApplyPatch with ${JSON.stringify({ input: patch })}` },
            { type: 'input_image', image_url: `data:image/png;base64,${png}`, detail: 'auto' },
          ],
        },
      ]
      const first = await ask({ ...common, input, max_output_tokens: 4000, include: ['reasoning.encrypted_content'] })
      const [call] = first.choices[0]?.message.tool_calls ?? []
      assert.ok(call?.type === 'custom', JSON.stringify(first))
      assert.deepEqual(call.custom, { name: 'ApplyPatch', input: patch })
      assert.match(lastSent(), /Be brief.*coding agent|coding agent.*Be brief/)
      input.push(
        { type: 'custom_tool_call', call_id: call.id, name: 'ApplyPatch', input: patch },
        { type: 'custom_tool_call_output', call_id: call.id, output: 'Patched.' },
        { type: 'function_call', call_id: 'call_2', name: 'read_file', arguments: '{"location":"b.txt"}' },
        { type: 'function_call_output', call_id: 'call_2', output: [{ type: 'input_text', text: 'Empty.' }] },
      )
      const second = await ask({ ...common, input })
      assert.equal(second.object, 'chat.completion')
      assert.match(lastSent(), /Patched\..*b\.txt.*Empty\./)
      assert.match(second.choices[0]?.message.content ?? '', /Patched\./)
    })

    test(`Anthropic's tools and blocks in a chat are those of a chat over ${how}`, async (t) => {
      const { ask, lastSent } = await asking(t, model)
      const tools = [{ name: 'get_weather', description: 'Tells the weather.', input_schema: location }]
      const messages: JsonObject[] = [{ role: 'user', content: 'What is the weather in Paris?' }]
      const first = await ask({ messages, tools, stream })
      const [call] = first.choices[0]?.message.tool_calls ?? []
      assert.ok(call?.type === 'function' && call.function.name === 'get_weather', JSON.stringify(first))
      const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } }
      messages.push(
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'I look.' },
            {
              type: 'tool_use',
              id: call.id,
              name: 'get_weather',
              input: JSON.parse(call.function.arguments) as JsonObject,
            },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: call.id, content: [{ type: 'text', text: 'Sunny.' }] },
            { type: 'text', text: 'What do you see?' },
            image,
          ],
        },
      )
      const second = await ask({ messages, tools, system: 'Be kind.', stream })
      assert.equal(second.object, 'chat.completion')
      assert.match(lastSent(), /Paris.*I look\..*Sunny\..*What do you see/)
      assert.match(lastSent(), /Be kind\./)
      if (!model.startsWith('anthropic/')) assert.doesNotMatch(lastSent(), /input_schema|tool_use/)
    })
  }
}

test('what continues a stored response is refused there', async (t) => {
  const { ask } = await asking(t, 'anthropic/claude-opus-5')
  await assert.rejects(ask({ input: 'Hi', previous_response_id: 'resp_1' }), { status: 400, param: 'messages' })
})
