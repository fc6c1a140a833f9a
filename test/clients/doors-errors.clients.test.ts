// Errors of the provider of a door, and how each unchanged client handles them.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { clients, pi, qwen, run } from './client.ts'
import { sceneOf, wordsOf } from './door-scene.ts'

const prompt = 'What is 17 + 25?'

for (const client of clients) {
  describe(`${client.name} ${client.version}`, () => {
    for (const status of [429, 500, 529]) {
      test(`is answered after the status ${status}`, { timeout: 400_000 }, async (t) => {
        const scene = await sceneOf(t, client, 'anthropic/claude-opus-5')
        scene.emulator.order({ status, headers: { 'retry-after': '1' } })
        const ended = await run(client, scene.where, { prompt })
        assert.match(ended.stdout, /17 \+ 25 = 42/, wordsOf(ended))
        assert.ok(scene.emulator.requests.some((request) => request.status === status))
      })
    }

    for (const [name, fault] of Object.entries({
      'a cut stream': { cutAt: 4 },
      'an error in the stream': { errorAt: 4 },
    })) {
      test(`${name} is retried or reported, and never an answer`, { timeout: 400_000 }, async (t) => {
        const scene = await sceneOf(t, client, 'anthropic/claude-opus-5')
        scene.emulator.order(fault)
        const ended = await run(client, scene.where, { prompt })
        assert.equal(ended.timedOut, false, 'it came to an end')
        // Qwen Code keeps the half that it has, and asks for the rest.
        const last = JSON.stringify(scene.emulator.requests.at(-1)?.body)
        const asksAgain = /= 42/.test(ended.stdout) || /"role":"assistant".*connection dropped/i.test(last)
        const did = asksAgain ? 'asks again' : ended.code === 0 ? 'accepts' : 'reports'
        // An interrupted stream at a door is an error of the API, so that no client mistakes half an answer for all of
        // it. An error need not be tried again: Qwen Code and pi report it.
        const mayReport = 'errorAt' in fault || client === qwen || client === pi
        assert.ok(did === 'asks again' || (mayReport && did === 'reports'), `${did}\n${wordsOf(ended)}`)
      })
    }
  })
}
