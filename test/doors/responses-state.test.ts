// What OpenAI's API keeps for its clients, over every provider: conversations, compaction, WebSockets.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import test from 'node:test'
import { setImmediate } from 'node:timers/promises'
import OpenAI from 'openai'
import { createKey } from '../../src/server/keys.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import { serving } from '../server/serving.ts'

const models = ['anthropic/claude-opus-5', 'mistral/mistral-large-latest', 'ollama/llama3.2', 'openai/gpt-5.6']

function clientAt(url: string, apiKey = 'any'): OpenAI {
  return new OpenAI({ apiKey, baseURL: `${url}/v1`, maxRetries: 0 })
}

for (const model of models) {
  test(`a conversation has its items in both orders, over ${model}`, async (t) => {
    const { url, store, emulator } = await serving(t)
    const openai = clientAt(url)
    const items = [{ type: 'message' as const, role: 'user' as const, content: 'My name is Ada.' }]
    const { id } = await openai.conversations.create({ items, metadata: { topic: 'names' } })
    const first = await openai.responses.create({ model, conversation: id, input: 'What is my name?' })
    assert.match(first.output_text, /Ada/)
    assert.deepEqual(first.conversation, { id })
    const second = await openai.responses.create({ model, conversation: id, input: 'How many messages are there?' })
    assert.match(second.output_text, /[23] from you, 1 from me/)
    const keys = emulator.requests.map(({ body }) => (body as { prompt_cache_key?: string }).prompt_cache_key)
    assert.equal(keys[1], keys[0])
    const roles = async (order: 'asc' | 'desc') => {
      const page = await openai.conversations.items.list(id, { order, limit: 100 })
      return page.data.flatMap((item) => (item.type === 'message' ? [item.role] : []))
    }
    assert.deepEqual(await roles('asc'), ['user', 'user', 'assistant', 'user', 'assistant'])
    assert.deepEqual(await roles('desc'), ['assistant', 'user', 'assistant', 'user', 'user'])
    assert.deepEqual((await openai.conversations.retrieve(id)).metadata, { topic: 'names' })
    assert.deepEqual((await openai.conversations.update(id, { metadata: { a: 'b' } })).metadata, { a: 'b' })
    assert.equal((await store.conversations('local')).items.length, 1)
    assert.deepEqual(await openai.conversations.delete(id), { id, object: 'conversation.deleted', deleted: true })
    await assert.rejects(openai.conversations.retrieve(id), { status: 404 })
  })

  test(`a conversation is compacted, and continued from its summary, over ${model}`, async (t) => {
    const { url, emulator } = await serving(t)
    const openai = clientAt(url)
    const history: OpenAI.Responses.ResponseInput = [
      { role: 'user', content: 'The launch is on Tuesday.' },
      { role: 'assistant', content: 'Understood.' },
    ]
    const { object, output, usage } = await openai.responses.compact({ model, input: history })
    assert.equal(object, 'response.compaction')
    const item = output.find(({ type }) => type === 'compaction')
    assert.ok(item?.type === 'compaction')
    assert.doesNotMatch(JSON.stringify(item), /Tuesday/, 'the item carries no content')
    assert.ok(usage.input_tokens > 0)
    const input = [item, { role: 'user', content: 'Go on.' }] as OpenAI.Responses.ResponseInput
    await openai.responses.create({ model, input })
    const sent = JSON.stringify(emulator.requests.at(-1)?.body)
    assert.match(sent, /offline emulator/, 'the summary is sent')
    assert.equal(emulator.requests.at(-1)?.status, 200)
  })
}

test('a request that ends with a trigger is answered with a compaction alone, streamed or not', async (t) => {
  const { url } = await serving(t)
  const openai = clientAt(url)
  const input = [{ role: 'user', content: 'The launch is on Tuesday.' }, { type: 'compaction_trigger' }]
  const body = { model: 'anthropic/claude-opus-5', input: input as OpenAI.Responses.ResponseInput }
  const { status, output } = await openai.responses.create(body)
  assert.equal(status, 'completed')
  const types: string[] = []
  for await (const event of await openai.responses.create({ ...body, stream: true })) {
    types.push(event.type)
    if (event.type === 'response.completed') output.push(...event.response.output)
  }
  assert.deepEqual(
    output.map(({ type }) => type),
    ['compaction', 'compaction'],
  )
  assert.ok(types.includes('response.output_item.done'))
  const unstored = await openai.responses.create({ ...body, store: false })
  await assert.rejects(openai.responses.retrieve(unstored.id), { status: 404 })
})

test('a model that writes nothing has written no summary', async (t) => {
  const { url } = await serving(t, {
    emulation: { reply: () => ({ parts: [], native: [], stop: { reason: 'length' } }) },
  })
  const summarising = clientAt(url).responses.compact({ model: 'anthropic/claude-opus-5', input: 'Hello' })
  await assert.rejects(summarising, { status: 502, message: /returned no summary/ })
})

for (const model of models) {
  test(`a response that is a compaction is retrieved and continued by its id over ${model}`, async (t) => {
    const { url, emulator } = await serving(t)
    const openai = clientAt(url)
    const [first = ''] = models
    const { id: before } = await openai.responses.create({ model: first, input: 'The launch is on Tuesday.' })
    const input: OpenAI.Responses.ResponseInput = [{ type: 'compaction_trigger' }]
    const compacted = await openai.responses.create({ model: first, previous_response_id: before, input })
    const { id, output } = compacted
    const found = await openai.responses.retrieve(id)
    assert.deepEqual([found.status, found.output, found.usage], ['completed', output, compacted.usage])
    assert.equal(found.previous_response_id, before)
    const { data } = await openai.responses.inputItems.list(id)
    assert.deepEqual(
      data.map(({ type }) => type),
      ['compaction_trigger'],
    )
    const next = await openai.responses.create({ model, previous_response_id: id, input: 'Is it late?' })
    assert.equal(next.previous_response_id, id)
    const { status, body } = emulator.requests.at(-1) ?? {}
    assert.equal(status, 200)
    const sent = JSON.stringify(body)
    assert.match(sent, /Summary.*Is it late\?/s)
    assert.doesNotMatch(sent, /resp_/)
    await openai.responses.delete(id)
    await assert.rejects(openai.responses.create({ model, previous_response_id: id, input: 'More.' }), {
      code: 'previous_response_not_found',
    })
  })
}

test('a retry in a conversation does not repeat the messages of the request that failed', async (t) => {
  let isFailing = false
  const refused = () => Response.json({ error: { message: 'Wrong key.' } }, { status: 401 })
  const { url } = await serving(t, {
    between: (next) => async (input, init) => (isFailing ? refused() : next(input, init)),
  })
  const openai = clientAt(url)
  const { id: conversation } = await openai.conversations.create({
    items: [{ type: 'message', role: 'user', content: 'Hi' }],
  })
  const body = { model: 'anthropic/claude-opus-5', conversation, input: 'Hi' }
  isFailing = true
  for (let i = 0; i < 2; i++) await assert.rejects(openai.responses.create(body))
  isFailing = false
  const said = async () => {
    await openai.responses.create(body)
    const { data } = await openai.conversations.items.list(conversation, { order: 'asc', limit: 100 })
    return data.flatMap((item) => (item.type === 'message' ? [item.role] : []))
  }
  assert.deepEqual(await said(), ['user', 'user', 'assistant'], 'the item that was there before stays')
  assert.deepEqual(await said(), ['user', 'user', 'assistant', 'user', 'assistant'], 'a repeat is new')
})

test('a retry in a conversation after an answer that was cut off takes its place', async (t) => {
  const { url, store, emulator } = await serving(t, { emulation: { piece: 4 } })
  const openai = clientAt(url)
  const { id: conversation } = await openai.conversations.create()
  const body = { model: 'anthropic/claude-opus-5', conversation, input: 'Count to 40.' }
  emulator.order({ keepAliveAt: 6 })
  const cut = await openai.responses.create({ ...body, stream: true })
  for await (const { type } of cut) if (type === 'response.output_text.delta') break
  const [{ id } = { id: '' }] = (await store.conversations('local')).items
  while ((await store.exchanges('local', id)).items[0]?.outcome === 'open') await setImmediate()
  const { output } = await openai.responses.create(body)
  const { data } = await openai.conversations.items.list(conversation, { order: 'asc' })
  assert.equal(data.length, 2)
  assert.deepEqual(data.at(-1), output.at(-1))
})

test('the items of a conversation that came through another API name the same calls as its client', async (t) => {
  const { url } = await serving(t)
  const openai = clientAt(url)
  const tools = [{ type: 'function' as const, function: { name: 'clock' } }]
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'What time is it?' }]
  const asking = openai.chat.completions.create({ model: 'anthropic/claude-opus-5', messages, tools })
  const { data, response } = await asking.withResponse()
  const message = data.choices[0]?.message
  const called = message?.tool_calls?.map(({ id }) => id) ?? []
  if (message) messages.push(message)
  messages.push(...called.map((id) => ({ role: 'tool' as const, tool_call_id: id, content: '12:00' })))
  await openai.chat.completions.create({ model: 'anthropic/claude-opus-5', messages, tools })
  const id = `conv_${response.headers.get('x-synapse-conversation')?.replaceAll('-', '')}`
  const items = (await openai.conversations.items.list(id)).data
  assert.equal(called.length, 1)
  assert.deepEqual(
    items.flatMap((item) => ('call_id' in item ? [item.call_id] : [])),
    [...called, ...called],
  )
})

test('items are added, found and deleted', async (t) => {
  const { url } = await serving(t)
  const openai = clientAt(url)
  const { id } = await openai.conversations.create()
  const added = await openai.conversations.items.create(id, {
    items: [
      { type: 'message', role: 'user', content: 'One.' },
      { type: 'message', role: 'user', content: 'Two.' },
    ],
  })
  const [one, two] = added.data
  assert.ok(one?.id && two?.id)
  assert.deepEqual(await openai.conversations.items.retrieve(two.id, { conversation_id: id }), two)
  await openai.conversations.items.delete(one.id, { conversation_id: id })
  const left = (await openai.conversations.items.list(id)).data
  assert.equal(left.length, 1)
  assert.match(JSON.stringify(left), /Two\./)
  const deleted = { status: 404, message: `404 Item with id '${one.id}' not found.` }
  await assert.rejects(openai.conversations.items.retrieve(one.id, { conversation_id: id }), deleted)
  await assert.rejects(openai.conversations.items.delete(one.id, { conversation_id: id }), deleted)
})

test('the items that are left keep their ids, and a part of a reply can be deleted', async (t) => {
  const { url } = await serving(t)
  const openai = clientAt(url)
  const called = (call_id: string) => ({ type: 'function_call' as const, call_id, name: 'clock', arguments: '{}' })
  const result = (call_id: string) => ({ type: 'function_call_output' as const, call_id, output: '12:00' })
  const { id } = await openai.conversations.create({
    metadata: { topic: 'time' },
    items: [
      { role: 'user', content: 'Two clocks.' },
      called('call_a'),
      called('call_b'),
      result('call_a'),
      result('call_b'),
    ],
  })
  await openai.responses.create({ model: 'mistral/mistral-large-latest', conversation: id, input: 'Thanks.' })
  const listed = async () => (await openai.conversations.items.list(id, { order: 'asc' })).data
  const items = await listed()
  assert.equal(items.length, 7)
  const [, deleted] = items
  assert.ok(deleted?.type === 'function_call' && deleted.call_id === 'call_a' && deleted.id)
  await openai.conversations.items.delete(deleted.id, { conversation_id: id })
  assert.deepEqual(
    await listed(),
    items.filter((item) => item !== deleted),
  )
  for (const item of items.filter((one) => one !== deleted)) {
    assert.ok(item.id)
    await openai.conversations.items.delete(item.id, { conversation_id: id })
  }
  assert.deepEqual(await listed(), [])
  assert.deepEqual((await openai.conversations.retrieve(id)).metadata, { topic: 'time' })
})

test('what a stored response contains is compacted without anything new', async (t) => {
  const { url, emulator } = await serving(t)
  const openai = clientAt(url)
  const model = 'mistral/mistral-large-latest'
  const { id } = await openai.responses.create({ model, input: 'The launch is on Tuesday.' })
  const { output } = await openai.responses.compact({ model, previous_response_id: id })
  assert.match(JSON.stringify(emulator.requests.at(-1)?.body), /The launch is on Tuesday/)
  assert.ok(output.some(({ type }) => type === 'compaction'))
  // A model whose window is unknown gets the conversation too.
  await openai.responses.compact({ model: 'mistral/mistral-next', previous_response_id: id })
  assert.match(JSON.stringify(emulator.requests.at(-1)?.body), /The launch is on Tuesday/)
})

test('a response that was translated is retrieved under the name of the model that the client uses', async (t) => {
  const { url } = await serving(t, { aliases: { small: 'mistral/mistral-large-latest' } })
  const openai = clientAt(url)
  const { id, model } = await openai.responses.create({ model: 'small', input: 'Hello' })
  assert.equal(model, 'small')
  assert.equal((await openai.responses.retrieve(id)).model, 'small')
})

test('a conversation of another owner is not found', async (t) => {
  const store = openMemoryStore()
  const [a, b] = await Promise.all(['a', 'b'].map((owner) => createKey(store, { name: owner, owner })))
  const { url } = await serving(t, { store, requireKeys: true })
  const { id } = await clientAt(url, a?.key).conversations.create()
  await assert.rejects(clientAt(url, b?.key).conversations.retrieve(id), { status: 404 })
  const body = { model: 'openai/gpt-5.6', conversation: id, input: 'Hi' }
  await assert.rejects(clientAt(url, b?.key).responses.create(body), { status: 404 })
})

test('a request that names a response and a conversation is refused with the code of the API', async (t) => {
  const { url } = await serving(t)
  const body = {
    model: 'mistral/mistral-large-latest',
    input: 'Hi',
    conversation: 'conv_a',
    previous_response_id: 'resp_a',
  }
  await assert.rejects(clientAt(url).responses.create(body), { status: 400, code: 'mutually_exclusive_parameters' })
})

test('only what runs in the background can be cancelled', async (t) => {
  const { url } = await serving(t)
  const openai = clientAt(url)
  const { id } = await openai.responses.create({ model: 'mistral/mistral-large-latest', input: 'Hi' })
  await assert.rejects(openai.responses.cancel(id), { status: 400 })
  await assert.rejects(openai.responses.cancel('resp_none'), { status: 404 })
})

test('a WebSocket obeys the rules of the server', async (t) => {
  const store = openMemoryStore()
  await createKey(store, { name: 'a', owner: 'a' })
  const { url } = await serving(t, { store, requireKeys: true })
  const { hostname, port } = new URL(url)
  const handshake = async (lines: string[]) => {
    const socket = connect(Number(port), hostname)
    const key = 'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='
    const usual = ['GET /v1/responses HTTP/1.1', 'Connection: Upgrade', 'Upgrade: websocket', key]
    socket.write([...usual, ...lines, '', ''].join('\r\n'))
    const [answer] = (await once(socket, 'data')) as [Buffer]
    socket.destroy()
    return answer.toString().split('\r\n', 1)[0]
  }
  assert.equal(await handshake([`Host: ${hostname}`]), 'HTTP/1.1 401 Unauthorized')
  assert.equal(await handshake(['Host: evil.example']), 'HTTP/1.1 403 Forbidden')
  assert.equal(await handshake([`Host: ${hostname}`, 'Origin: http://evil.example']), 'HTTP/1.1 403 Forbidden')
})

test('a frame that breaks the rules closes the connection, and the server continues', async (t) => {
  const { url, api } = await serving(t, { limits: { body: 1000 } })
  const said = async (message: string | Uint8Array<ArrayBuffer>) => {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/responses`)
    await once(socket, 'open')
    socket.send(message)
    const [event] = (await Promise.race([once(socket, 'close'), once(socket, 'message')])) as [
      CloseEvent | MessageEvent,
    ]
    socket.close()
    return 'code' in event ? event.code : JSON.parse(String(event.data))
  }
  assert.equal(await said(new Uint8Array([1])), 1003)
  assert.equal(await said('a'.repeat(2000)), 1009)
  assert.equal((await said('no json')).error.code, 'invalid_request_error')
  assert.equal((await said('{"type":"response.create","model":"none/none","input":"Hi"}')).status, 404)
  assert.equal((await api('GET', '/health')).status, 200)
})

for (const model of models) {
  test(`items have the ids that the answers had, over ${model}`, async (t) => {
    const { url, emulator } = await serving(t)
    const openai = clientAt(url)
    const { id: conversation } = await openai.conversations.create()
    const fields = { a: { type: 'number' }, b: { type: 'number' } }
    const tools = [
      { name: 'add', parameters: { type: 'object', properties: fields } },
      { name: 'clock', parameters: { type: 'object', properties: {} } },
    ].map((tool) => ({ type: 'function' as const, strict: false, ...tool }))
    const listed = async () => (await openai.conversations.items.list(conversation, { order: 'asc' })).data
    const input = 'What is 17 + 25? What time is it?'
    const asked = await openai.responses.create({ model, conversation, input, tools })
    const calls = asked.output.filter((item) => item.type === 'function_call')
    assert.equal(calls.length, 2)
    assert.deepEqual((await listed()).slice(1), calls)

    const results = calls.map(({ call_id }) => ({ type: 'function_call_output' as const, call_id, output: 'Done.' }))
    const answer = await openai.responses.create({ model, conversation, tools, input: results })
    const items = await listed()
    const callIds = items.flatMap((item) => ('call_id' in item ? [item.call_id] : []))
    assert.deepEqual(
      callIds,
      [...calls, ...calls].map(({ call_id }) => call_id),
    )
    assert.deepEqual(items.at(-1), answer.output.at(-1))
    const before = (await openai.responses.inputItems.list(answer.id, { order: 'asc' })).data
    assert.deepEqual(before.slice(1, 3), calls)

    // A call and its result are deleted; the other two still belong together.
    for (const item of [items[1], items[3]]) {
      await openai.conversations.items.delete(item?.id ?? '', { conversation_id: conversation })
    }
    assert.deepEqual(
      await listed(),
      items.filter((_, i) => i !== 1 && i !== 3),
    )
    await openai.responses.create({ model, conversation, tools, input: 'Thanks.' })
    assert.doesNotMatch(JSON.stringify(emulator.requests.at(-1)?.body), /interrupted|Previous Context/)
  })
}

test('a stored response is streamed again from any event on', async (t) => {
  const { url } = await serving(t)
  const openai = clientAt(url)
  const { id } = await openai.responses.create({ model: 'anthropic/claude-opus-5', input: 'What is 17 + 25?' })
  const numbers = async (after?: number) => {
    const query = { stream: true as const, ...(after !== undefined && { starting_after: after }) }
    const got: number[] = []
    for await (const event of await openai.responses.retrieve(id, query)) got.push(event.sequence_number)
    return got
  }
  const all = await numbers()
  assert.deepEqual(await numbers(3), all.slice(4))
  assert.deepEqual(await numbers(9999), all.slice(-1), 'the end comes in any case')
  const wrong = await fetch(`${url}/v1/responses/${id}?stream=true&starting_after=x`)
  assert.equal(wrong.status, 400)
  assert.match(await wrong.text(), /"param":"starting_after"/)
})

test('a stored response that was cut off begins without a reason when it is streamed again', async (t) => {
  const { url } = await serving(t)
  const openai = clientAt(url)
  const asked = { model: 'anthropic/claude-opus-5', input: 'Count to 500', max_output_tokens: 20 }
  const { id, incomplete_details: reason } = await openai.responses.create(asked)
  assert.deepEqual(reason, { reason: 'max_output_tokens' })
  const reasons: unknown[] = []
  for await (const event of await openai.responses.retrieve(id, { stream: true })) {
    if ('response' in event) reasons.push(event.response.incomplete_details)
  }
  assert.deepEqual(reasons, [null, null, reason])
})

test('replies that a client puts into a conversation have the fields of a reply', async (t) => {
  const { url } = await serving(t)
  const openai = clientAt(url)
  // A conversation is often filled with what a client has kept of replies: their texts.
  const kept = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hi.' }] }
  const items = [{ role: 'user', content: 'Hello' }, kept, { role: 'assistant', content: 'Hi again.' }]
  const { id } = await openai.conversations.create({ items: items as OpenAI.Responses.ResponseInputItem[] })
  const { data } = await openai.conversations.items.list(id, { order: 'asc' })
  const contents = data.map((item) => (item.type === 'message' ? item.content : undefined))
  const text = (words: string) => [{ type: 'output_text', annotations: [], logprobs: [], text: words }]
  assert.deepEqual(contents, [[{ type: 'input_text', text: 'Hello' }], text('Hi.'), text('Hi again.')])
})

test('an error names the field of the request that is wrong', async (t) => {
  const { url } = await serving(t, { doorModel: { model: 'openai/gpt-5.6', always: false } })
  const openai = clientAt(url)
  const model = 'anthropic/claude-opus-5'
  const continued = openai.responses.create({ model, input: 'Hi', previous_response_id: 'resp_none' })
  await assert.rejects(continued, { status: 400, param: 'previous_response_id', code: 'previous_response_not_found' })
  await assert.rejects(openai.responses.create({ model }), { status: 400, param: 'input' })
  const { id } = await openai.conversations.create()
  await assert.rejects(openai.conversations.items.list(id, { limit: 0 }), { status: 400, param: 'limit' })
  for (const [path, body, param] of [
    ['', { metadata: 5 }, 'metadata'],
    ['', { items: [5] }, 'items'],
    [`/${id}`, {}, 'metadata'],
    [`/${id}/items`, {}, 'items'],
    [`/${id}/items`, { items: 'Hi' }, 'items'],
  ] as const) {
    await assert.rejects(openai.post(`/conversations${path}`, { body }), { status: 400, param })
  }
  const unnamed = { input: 'Hi' } as OpenAI.Responses.ResponseCompactParams
  await assert.rejects(openai.responses.compact(unnamed), { status: 400, param: 'model' })
  await assert.rejects(openai.responses.compact({ model }), { status: 400, message: /nothing to summarise/ })
})

test('an item that an answer had can be referred to by its id, whichever provider answers', async (t) => {
  const { url, emulator } = await serving(t)
  const openai = clientAt(url)
  const parameters = { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } } }
  const tools = [{ type: 'function' as const, name: 'add', strict: false, parameters }]
  const refer = ({ output }: OpenAI.Responses.Response) =>
    output.map(({ id }) => ({ type: 'item_reference' as const, id: id ?? '' }))
  for (const [first, second] of models.flatMap((one) => models.map((two) => [one, two] as const))) {
    const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: `Ada to ${first}: what is 17 + 25?` }]
    const asked = await openai.responses.create({ model: first, input, tools })
    const call = asked.output.find((item) => item.type === 'function_call')
    assert.ok(call)
    const output = `For ${second}: 42`
    input.push(...refer(asked), { type: 'function_call_output', call_id: call.call_id, output })
    const answer = await openai.responses.create({ model: second, input, tools })
    assert.match(answer.output_text, /42/)
    input.push(...refer(answer), { role: 'user', content: 'How many messages are there?' })
    const last = await openai.responses.create({ model: second, input, tools })
    assert.match(last.output_text, /2 from you, 2 from me, 1 with tool results/, `${first}, ${second}`)
    assert.equal(emulator.requests.at(-1)?.status, 200)
  }
})

for (const model of models) {
  test(`a request that names what it continues needs no input, and is counted with it, over ${model}`, async (t) => {
    const { url } = await serving(t)
    const openai = clientAt(url)
    const content = `My name is Ada. ${'Noted. '.repeat(500)}`
    const { id: conversation } = await openai.conversations.create({ items: [{ role: 'user', content }] })
    const asked = { role: 'user' as const, content: 'What is my name?' }
    await openai.conversations.items.create(conversation, { items: [asked] })
    const count = async (body: OpenAI.Responses.InputTokenCountParams) =>
      (await openai.responses.inputTokens.count({ model, ...body })).input_tokens
    assert.ok((await count({ conversation })) > 500)
    const answer = await openai.responses.create({ model, conversation })
    assert.match(answer.output_text, /Ada/)
    assert.ok((await count({ previous_response_id: answer.id, input: 'Hi' })) > 500)
    const next = await openai.responses.create({ model, previous_response_id: answer.id })
    assert.equal(next.status, 'completed')
    await assert.rejects(count({ previous_response_id: 'resp_none', input: 'Hi' }), { status: 400 })
  })
}
