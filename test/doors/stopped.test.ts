// `synapse serve` that is asked to stop while a client reads its answer.

import assert from 'node:assert/strict'
import test from 'node:test'
import { tempFolder } from '../store/temp.ts'
import { models, startProvider, startServer } from './server-process.ts'

for (const model of Object.values(models)) {
  test(`a server that is stopped finishes the answers that it is writing, and takes no new request, ${model}`, async (t) => {
    const [folder, provider] = [tempFolder(t), await startProvider(t)]
    const { openai, stop, ended } = await startServer(t, folder, provider)
    provider.hold()
    const stream = await openai.responses.create({ model, input: 'What is my name?', stream: true })
    const types: string[] = []
    for await (const { type } of stream) {
      if (types.length === 0) {
        stop()
        await assert.rejects(unlessOpen(openai, model), 'it accepts no requests')
        provider.resume()
      }
      types.push(type)
    }
    assert.equal(types.at(-1), 'response.completed')
    assert.deepEqual(await ended, [0, null])
    assert.equal(provider.asked(), 1)
  })
}

/** Rejects once a request is refused. Until the signal has arrived, models are listed. */
async function unlessOpen(openai: Awaited<ReturnType<typeof startServer>>['openai'], model: string): Promise<void> {
  for (;;) await openai.models.retrieve(model)
}
