// The commands that look: inspect, usage, models, completion. One home for each group: processes are slow to start.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { newHome } from './command-line.ts'
import { bin } from '../installed.ts'

test('inspect shows each message with its fate, tokens and price, and where the prefix breaks', async (t) => {
  const { synapse } = newHome(t)
  await synapse(['--offline', '-m', 'anthropic', 'What is 17 + 25?'])
  await synapse(['--offline', '-c', '-s', 'Be brief.', 'What did I say first?'])

  const shown = await synapse(['inspect', 'last'])
  assert.equal(shown.code, 0, shown.err)
  assert.match(
    shown.out,
    /^anthropic\/claude-opus-5 over anthropic-messages\nPOST https:\/\/api\.anthropic\.com\/v1\/messages\n/,
  )
  assert.match(shown.out, /[\d,]+ tokens, \d+ of them system and tools; [\d,]+ bytes; \$0\.\d+ for the prompt/)
  assert.match(shown.out, /2 +tool +\d+ +sent +← add 42/)
  assert.match(shown.out, /Everything sent at/)

  const other = await synapse(['inspect', 'last', '--for', 'google', '--policy', 'classic', '--json'])
  const looked = JSON.parse(other.out) as Record<string, unknown> & { explained: { messages: { fate: string }[] } }
  assert.equal(looked['protocol'], 'gemini-generate')
  assert.equal(looked['previous'], undefined)
  assert.equal(looked.explained.messages.length, 6)
  assert.ok(looked['body'])

  // The system prompt came in between: the very first lines of the body differ.
  const diff = await synapse(['inspect', 'last', '--diff'])
  assert.match(diff.out, /^- \S+ anthropic\/claude-opus-5/)
  assert.match(diff.out, /\n\+ .*Be brief\./)
  assert.match(diff.out, /\n… \d+ unchanged lines/)
  const asJson = JSON.parse((await synapse(['inspect', 'last', '--diff', '--json'])).out) as { breaks: { at: string } }
  assert.match(asJson.breaks.at, /^system/)

  const exact = await synapse(['inspect', 'last', '--exact', '--offline'])
  assert.match(exact.out, /\n[\d,]+ tokens by the provider's own count\n/)
  assert.match((await synapse(['inspect', 'last', '--exact'])).err, /^synapse: Anthropic needs a key/)
  const none = await synapse(['inspect', 'last', '--exact', '--offline', '--for', 'mistral'])
  assert.match(none.err, /^synapse: Mistral does not count tokens on request/)
  assert.equal(none.code, 2)

  const body = await synapse(['inspect', 'last', '--body'])
  assert.equal((JSON.parse(body.out) as { model: string }).model, 'claude-opus-5')
  assert.match((await synapse(['inspect'])).err, /Name the conversation/)
  assert.match(
    (await synapse(['inspect', 'last', '--policy', 'thrifty'])).err,
    /policy: must be one of economy, .*, not "thrifty"/,
  )
})

test('inspect says what was folded and why', async (t) => {
  const { synapse } = newHome(t)
  const long = 'x'.repeat(2000)
  const input = Array.from({ length: 8 }, (_, i) => `use the tool clock with {"zone":"${i}${long}"}`).join('\n')
  await synapse(['chat', '--offline', '-m', 'anthropic'], { input })
  const { out } = await synapse(['inspect', 'last', '--policy', 'classic'])
  assert.match(out, /1 +assistant +[\d,]+ +\d+ +folded +→ clock/)
  assert.match(out, /What differs from the log\n#1–2.*older than the last 3 tool turns/)
})

test('usage adds up by day, provider and model, with a chart', async (t) => {
  const { synapse } = newHome(t)
  assert.match((await synapse(['usage'])).err, /No requests in the last 30 days/)
  await synapse(['--offline', '-m', 'anthropic', 'What is 17 + 25?'])
  await synapse(['--offline', '-c', '-m', 'openai', 'hello'])
  const { out } = await synapse(['usage'])
  assert.match(out, /day +requests[\s\S]*\n\d{4}-\d\d-\d\d +3 .*█/)
  assert.match(out, /\nanthropic +2 [\s\S]*\nopenai +1 [\s\S]*\ntotal +3 /)
  assert.match(out, /\nopenai\/gpt-5\.6 +1 .* offline/)
  assert.match(out, /\nAll requests went to the built-in emulator and cost nothing\.\n$/)
  const by = JSON.parse((await synapse(['usage', '--by', 'provider', '--json'])).out) as {
    provider: { key: string; exchanges: number; cost: number }[]
  }
  assert.ok(by.provider.every(({ cost }) => cost === 0))
  assert.deepEqual(Object.fromEntries(by.provider.map(({ key, exchanges }) => [key, exchanges])), {
    anthropic: 2,
    openai: 1,
  })
  assert.match((await synapse(['usage', '--by', 'moon'])).err, /--by must be one of/)
})

test('models lists what can be asked, from the catalogue or from the provider', async (t) => {
  const { synapse } = newHome(t)
  const { out } = await synapse(['models', 'anthropic'])
  assert.match(out, /^model +context +in +cached +out\n/)
  assert.match(out, /\nanthropic\/claude-opus-5 +1M +\$5\.00 +\$0\.50 +\$25\.00\n/)
  assert.match((await synapse(['models', 'claude-opus-5'])).out, /\nanthropic\/claude-opus-5 /)
  const all = await synapse(['models', '--json'])
  assert.ok((JSON.parse(all.out) as unknown[]).length > 200)
  for (const provider of ['anthropic', 'google', 'openai', 'ollama', 'mistral']) {
    const live = await synapse(['models', provider, '--live', '--offline', '--json'])
    assert.equal(live.code, 0, live.err)
    const models = JSON.parse(live.out) as { provider: string; model: string }[]
    assert.ok(
      models.every((one) => one.provider === provider && !one.model.startsWith('models/')),
      provider,
    )
  }
  assert.match((await synapse(['models', '--live'])).err, /provider to query/)
  assert.match((await synapse(['models', 'anthropic', '--live'])).err, /ANTHROPIC_API_KEY/)
})

test('completion is a script that the shell accepts, and completes every position', async (t) => {
  const { synapse, folder, env } = newHome(t)
  await synapse(['--offline', 'Hello'])
  const [id = ''] = (await synapse(['log'])).out.split(' ')
  mkdirSync(join(folder, 'agents'))
  // A shell would run the command in the second name.
  for (const name of ['reviewer', 'touch$(touch pwned)']) {
    writeFileSync(join(folder, 'agents', `${name}.yaml`), 'model: openai/gpt-5.6\n')
  }
  const prompts = join(env['HOME'] ?? '', '.config', 'synapse', 'prompts')
  mkdirSync(prompts, { recursive: true })
  writeFileSync(join(prompts, 'review.md'), 'Review this {{language}} code, {{tone:-politely}}: {{input}}\n')
  const { out: script } = await synapse(['completion', 'bash'])
  for (const shell of ['zsh', 'fish']) {
    const { out } = await synapse(['completion', shell])
    assert.ok(out.includes('synapse completion words'), shell)
  }
  assert.match((await synapse(['completion', 'tcsh'])).err, /bash\|zsh\|fish/)
  assert.match((await synapse(['completion', 'words', '-m', ''])).out, /^openai\/gpt-5\.6$/m)
  if (spawnSync('bash', ['-c', 'true']).status !== 0) return t.diagnostic('there is no bash here')
  const file = join(folder, 'completion.bash')
  writeFileSync(file, script)
  const offered = (...words: string[]): string => {
    const line = words.map((word) => `'${word}'`).join(' ')
    const run = `synapse() { '${process.execPath}' '${bin}' "$@"; }; source '${file}'; COMP_WORDS=(${line}); COMP_CWORD=${words.length - 1}; _synapse; echo "\${COMPREPLY[*]}"`
    return spawnSync('bash', ['-c', run], { env, cwd: folder }).stdout.toString().trim()
  }
  assert.equal(offered('synapse', 'ins'), 'inspect')
  assert.equal(offered('synapse', '--pol'), '--policy')
  assert.equal(offered('synapse', '--re'), '--resume')
  assert.match(offered('synapse', '-m', 'anthropic/claude-opus-5'), /^anthropic\/claude-opus-5\b/)
  assert.match(offered('synapse', '-m', 'claude-opus-5'), /^claude-opus-5\b/)
  assert.equal(offered('synapse', '-p', 'rev'), 'review')
  assert.equal(offered('synapse', '-p', 'review', 'l'), 'language=')
  assert.equal(offered('synapse', '-p', 'review', 'language', '=', 'Go', ''), 'tone=')
  assert.match(offered('synapse', '-o', 'e'), /^effort=$/)
  for (const words of [['export'], ['--conversation']]) {
    assert.equal(offered('synapse', ...words, id.slice(0, 4)), id, words.join(' '))
  }
  assert.equal(offered('synapse', 'export', id, '--format', 'mark'), 'markdown')
  assert.equal(offered('synapse', 'export', '--red'), '--redact')
  assert.equal(offered('synapse', 'keys', 'rev'), 'revoke')
  assert.equal(offered('synapse', 'auth', 'anth'), 'anthropic')
  assert.equal(offered('synapse', 'agent', 'run', ''), 'reviewer')
  assert.equal(offered('synapse', '--agent', 't'), '')
  assert.ok(!existsSync(join(folder, 'pwned')))
})

test('the log and the inspector show what a provider stores of a conversation', async (t) => {
  const { synapse } = newHome(t)
  await synapse(['-m', 'openai', '--offline', '--policy', '{"state":"auto"}', 'Hi'])
  const log = await synapse(['log', '1'])
  assert.match(
    log.out,
    /openai stores #0–1 as resp_\w+ until \d{4}-\d\d-\d\d \d\d:\d\d \(openai-responses\)\./,
    log.err,
  )
  const inspected = await synapse(['inspect', 'last', '--offline', '--policy', '{"state":"auto"}'])
  assert.match(inspected.out, /openai stores #0–1 as resp_/, inspected.err)
  const json = await synapse(['inspect', 'last', '--offline', '--json'])
  assert.match(json.out, /"state":\s*\[\s*\{/)
})
