// Errors that name a remedy: how each is provoked, and how it is shown that what it names works.

import assert from 'node:assert/strict'
import { chmodSync, globSync, mkdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { TestContext } from 'node:test'
import { serveEmulator } from '../../src/testing.ts'
import { newHome, type Home } from './command-line.ts'

export interface Remedy {
  /** As it is in the source: the test below asks for a row for every command that an error names. */
  text: string
  wrong: string[]
  says: RegExp
  code?: number
  /** What the message names, done. */
  remedy: (home: Home) => Promise<void>
  prepare?: (home: Home) => void
}

/** The commands work, one after the other; gives what the last one said. */
async function works(home: Home, ...all: string[][]): Promise<string> {
  let out = ''
  for (const args of all) {
    const ran = await home.synapse(args)
    assert.equal(ran.code, 0, `synapse ${args.join(' ')}: ${ran.err}`)
    out = ran.out
  }
  return out
}

async function firstId(home: Home): Promise<string> {
  const [id = ''] = (await works(home, ['log'])).split(' ', 1)
  return id
}

const lists = async (home: Home): Promise<void> => assert.match(await firstId(home), /^\w{8}-/)
const transcript = JSON.stringify([{ role: 'user', content: 'Hello' }])

export const remedies: readonly Remedy[] = [
  { text: 'There is no conversation', wrong: ['log', 'nope'], says: /"synapse log" lists them/, remedy: lists },
  { text: 'The conversation id is empty', wrong: ['log', ''], says: /"synapse log" lists the ids/, remedy: lists },
  {
    text: 'Name the conversation to delete',
    wrong: ['delete'],
    says: /synapse delete ID\. "synapse log" lists the ids/,
    remedy: async (home) => void (await works(home, ['delete', await firstId(home), '--yes'])),
  },
  {
    text: 'This is not an interactive terminal',
    wrong: ['delete', 'ID'],
    says: /give --yes/,
    remedy: async (home) => void (await works(home, ['delete', await firstId(home), '--yes'])),
  },
  {
    text: 'Name the conversation: synapse inspect ID',
    wrong: ['inspect'],
    says: /synapse inspect ID/,
    remedy: async (home) => void (await works(home, ['inspect', await firstId(home)])),
  },
  {
    text: 'Name one conversation to export',
    wrong: ['export'],
    says: /or give --all\. "synapse log" lists the ids/,
    remedy: async (home) => void (await works(home, ['export', await firstId(home)], ['export', '--all'])),
  },
  {
    text: 'Only an archive can contain all conversations',
    wrong: ['export', '--all', '--format', 'html'],
    says: /Leave out --format/,
    remedy: async (home) => void (await works(home, ['export', '--all'])),
  },
  {
    text: 'Name the file to import',
    wrong: ['import'],
    says: /synapse import FILE/,
    prepare: (home) => writeFileSync(join(home.folder, 't.json'), transcript),
    remedy: async (home) => void (await works(home, ['import', 't.json'])),
  },
  {
    text: 'already exists. --copy',
    wrong: ['import', 'a.jsonl'],
    says: /--copy imports it again/,
    remedy: async (home) => void (await works(home, ['import', '--copy', 'a.jsonl'])),
  },
  {
    text: 'Name the file to check',
    wrong: ['check'],
    says: /synapse check FILE --for PROVIDER/,
    prepare: (home) => writeFileSync(join(home.folder, 't.json'), transcript),
    remedy: async (home) => void (await works(home, ['check', 't.json', '--for', 'openai'])),
  },
  {
    text: 'Name the file to convert',
    wrong: ['convert'],
    says: /synapse convert FILE --to PROVIDER/,
    prepare: (home) => writeFileSync(join(home.folder, 't.json'), transcript),
    remedy: async (home) => void (await works(home, ['convert', 't.json', '--to', 'anthropic'])),
  },
  {
    text: 'Name the words to search for: synapse search WORDS',
    wrong: ['search'],
    says: /synapse search WORDS/,
    remedy: async (home) => assert.match(await works(home, ['search', 'hello']), /Hello/),
  },
  {
    text: 'There are more results: use --limit',
    wrong: ['search', 'hello', '--limit', '1'],
    says: /There are more results: use --limit 5/,
    code: 0,
    remedy: async (home) => assert.ok((await works(home, ['search', 'hello', '--limit', '5'])).split('\n').length > 3),
  },
  {
    text: '--resume continues without a question',
    wrong: ['--offline', '--resume', 'And?'],
    says: /use -c/,
    remedy: async (home) => void (await works(home, ['--offline', '-c', 'And?'])),
  },
  {
    text: 'Name the shell: synapse completion',
    wrong: ['completion', 'tcsh'],
    says: /synapse completion bash\|zsh\|fish/,
    remedy: async (home) => void (await works(home, ...['bash', 'zsh', 'fish'].map((shell) => ['completion', shell]))),
  },
  {
    text: 'Name a subcommand: "synapse keys create"',
    wrong: ['keys', 'make'],
    says: /"synapse keys create", "list" or "revoke ID"/,
    remedy: keysWork,
  },
  {
    text: 'No keys yet',
    wrong: ['keys', 'list'],
    says: /"synapse keys create" creates one/,
    code: 0,
    remedy: keysWork,
  },
  {
    text: 'There is no key',
    wrong: ['keys', 'revoke', 'k'],
    says: /"synapse keys list" lists them/,
    remedy: keysWork,
  },
  { text: 'Name the key to revoke', wrong: ['keys', 'revoke'], says: /"synapse keys revoke ID"/, remedy: keysWork },
  {
    text: '"synapse keys list" lists all keys',
    wrong: ['keys', 'list', 'x'],
    says: /lists all keys/,
    remedy: keysWork,
  },
  {
    text: 'Listening on',
    wrong: ['serve', '--host', '0.0.0.0', '--port', '0'],
    says: /create one with "synapse keys create"/,
    remedy: keysWork,
  },
  {
    text: 'Name a subcommand: synapse agent list',
    wrong: ['agent', 'make'],
    says: /synapse agent list, synapse agent check or synapse agent run NAME/,
    prepare: withAgent,
    remedy: agentWorks,
  },
  {
    text: 'Name the agent',
    wrong: ['agent', 'run'],
    says: /synapse agent run NAME/,
    prepare: withAgent,
    remedy: agentWorks,
  },
  {
    text: 'Give a task: synapse agent run',
    wrong: ['agent', 'run', 'helper'],
    says: /synapse agent run helper/,
    prepare: withAgent,
    remedy: agentWorks,
  },
  {
    text: 'Name a subcommand: synapse config check',
    wrong: ['config', 'show'],
    says: /synapse config check/,
    prepare: withAgent,
    remedy: async (home) => void (await works(home, ['config', 'check', 'synapse.yaml'])),
  },
  {
    text: 'Use "synapse providers"',
    wrong: ['providers', 'make'],
    says: /synapse providers configure ID/,
    remedy: async (home) => void (await works(home, ['providers'])),
  },
  {
    text: 'Name a provider: no API key',
    wrong: ['probe'],
    says: /"synapse providers" lists the variables/,
    remedy: async (home) => assert.match(await works(home, ['providers']), /missing: OPENAI_API_KEY/),
  },
  {
    text: 'There is no provider "${provider}". "synapse providers"',
    wrong: ['probe', 'nowhere'],
    says: /"synapse providers" lists them/,
    remedy: async (home) => assert.match(await works(home, ['providers']), /^openai /m),
  },
  {
    text: 'There is no provider "${id}". "synapse providers"',
    wrong: ['-m', 'my-own-host/a-model', 'Hello'],
    says: /"synapse providers" lists them; a model is written provider\/model/,
    remedy: async (home) => assert.match(await works(home, ['providers']), /^openai /m),
  },
  {
    text: 'Name a model of',
    wrong: ['probe', 'ollama'],
    says: /synapse probe ollama\/MODEL/,
    remedy: async (home) => void (await works(home, ['probe', 'ollama/a-model', '--offline'])),
  },
  {
    text: 'No conversations yet',
    wrong: ['log', '--db', 'new.db'],
    says: /synapse "What time is it\?" starts one/,
    code: 0,
    remedy: async (home) =>
      assert.match(
        await works(home, ['--offline', '--db', 'new.db', 'What time is it?'], ['log', '--db', 'new.db']),
        /What time/,
      ),
  },
  {
    text: 'saves what can be read to a copy',
    wrong: ['log'],
    says: /"synapse doctor --repair" saves what can be read to a copy/,
    code: 1,
    prepare: (home) => truncateSync(storeOf(home), statSync(storeOf(home)).size - 1),
    async remedy(home) {
      const { err } = await home.synapse(['doctor', '--repair'])
      const [, copy = ''] = /Inspect the copy with --db (\S+);/.exec(err) ?? []
      assert.match(await works(home, ['log', '--db', copy]), /Hello/)
    },
  },
  {
    text: 'repairs what it can',
    wrong: ['doctor'],
    says: /"synapse doctor --repair" repairs what it can/,
    code: 1,
    prepare: (home) => inStore(home, 'DELETE FROM search_upto'),
    remedy: async (home) => void (await works(home, ['doctor', '--repair'], ['doctor'])),
  },
  {
    text: '"synapse migrate" brings it to',
    wrong: ['doctor'],
    says: /The format is 2; "synapse migrate" brings it to/,
    code: 0,
    prepare: (home) => inStore(home, 'DROP TABLE search_upto; PRAGMA user_version = 2'),
    // The checkup itself has changed nothing.
    remedy: async (home) => assert.match(await works(home, ['migrate']), /The format is 2; now it is/),
  },
  {
    text: 'Name the provider to query: synapse models',
    wrong: ['models', '--live'],
    says: /synapse models PROVIDER --live/,
    async remedy(home) {
      const server = await serveEmulator()
      const env = { OPENAI_COMPATIBLE_BASE_URL: `${server.url}/openai-compatible/v1`, OPENAI_COMPATIBLE_API_KEY: 'k' }
      const { code, err } = await home.synapse(['models', 'openai-compatible', '--live'], { env })
      await server.close()
      assert.equal(code, 0, err)
    },
  },
  {
    text: 'is damaged: the stored data is not what was written',
    wrong: ['log', 'last'],
    says: /"synapse doctor" shows details/,
    code: 1,
    prepare: (home) => inStore(home, `UPDATE entries SET message = replace(message, 'Hello', 'Jello')`),
    async remedy(home) {
      const { code, out } = await home.synapse(['doctor'])
      assert.equal(code, 1)
      assert.match(out, /1 entry is damaged|entries are damaged/)
    },
  },
  {
    text: 'synapse --resume',
    wrong: ['--offline', '-c', '--conversation', 'ID', '--no-tools', 'again'],
    says: /"synapse --resume" continues from there/,
    code: 0,
    prepare: (home) =>
      inStore(
        home,
        `UPDATE conversations SET head = (SELECT min(n) FROM entries WHERE conversation = conversations.n)`,
      ),
    remedy: async (home) => void (await works(home, ['--offline', '--resume'])),
  },
  {
    text: 'can be changed by anyone',
    wrong: ['config', 'check'],
    says: /name it with --config/,
    prepare(home) {
      withAgent(home)
      chmodSync(join(home.folder, 'synapse.yaml'), 0o666)
    },
    remedy: async (home) => void (await works(home, ['--config', 'synapse.yaml', '--offline', 'Hello'])),
  },
  {
    text: 'No agent has a session of',
    wrong: ['carry', 'latest', '--to', 'codex'],
    says: /"synapse sessions --all" lists those of other folders/,
    remedy: async (home) => void (await works(home, ['sessions', '--all'])),
  },
  {
    text: 'The id of the session is empty',
    wrong: ['carry', '', '--to', 'codex'],
    says: /"synapse sessions" lists them/,
    remedy: async (home) => void (await works(home, ['sessions'])),
  },
  {
    text: 'Name the session: synapse carry',
    wrong: ['carry', '--to', 'codex'],
    says: /"synapse sessions" lists them/,
    remedy: async (home) => void (await works(home, ['sessions'])),
  },
  {
    text: 'There is no session',
    wrong: ['carry', 'nope', '--to', 'codex'],
    says: /"synapse sessions --all" and "synapse log" list them/,
    remedy: async (home) => void (await works(home, ['sessions', '--all'])),
  },
  {
    text: 'Name the program after "--"',
    wrong: ['run', '--offline'],
    says: /synapse run -m anthropic\/claude-opus-5 -- codex/,
    remedy: async (home) => void (await works(home, ['run', '--offline', '--', process.execPath, '--version'])),
  },
  {
    text: 'is not trusted; "synapse trust --list"',
    wrong: ['trust', '--remove', '.'],
    says: /"synapse trust --list" lists trusted folders/,
    remedy: async (home) => void (await works(home, ['trust', '--list'])),
  },
  {
    text: 'stores one, or set ${names}',
    wrong: ['-m', 'openai/gpt-5.6', 'Hello'],
    says: /"synapse auth openai" stores one, or set OPENAI_API_KEY/,
    remedy: authWorks,
  },
  {
    text: 'Without it, "synapse auth PROVIDER" stores keys again',
    wrong: ['auth', '--list'],
    says: /Without it, "synapse auth PROVIDER" stores keys again/,
    prepare: (home) => writeKeys(home, 'not JSON'),
    async remedy(home) {
      rmSync(keysFile(home))
      await authWorks(home)
    },
  },
  {
    text: 'Name the provider: synapse auth PROVIDER',
    wrong: ['auth'],
    says: /Keys can be stored for .*openai/,
    remedy: authWorks,
  },
  {
    text: 'No key is stored for',
    wrong: ['auth', '--remove', 'openai'],
    says: /"synapse auth --list" lists them/,
    remedy: authWorks,
  },
  { text: 'No keys are stored', wrong: ['auth', '--list'], says: /stores one/, code: 0, remedy: authWorks },
  { text: 'there are only', wrong: ['log', '7'], says: /"synapse log" lists them/, remedy: lists },
  {
    text: 'Name two or three models',
    wrong: ['compare', 'Hello'],
    says: /synapse compare -m A -m B "question"/,
    remedy: compareWorks,
  },
  {
    text: 'Give a question: synapse compare',
    wrong: ['compare', '-m', 'openai/gpt-5.6', '-m', 'anthropic/claude-opus-5'],
    says: /synapse compare -m A -m B "question"/,
    remedy: compareWorks,
  },
]

async function keysWork(home: Home): Promise<void> {
  await works(home, ['keys', 'create', '--name', 'a'])
  const listed = await works(home, ['keys', 'list'])
  const [id = ''] = listed.trim().split(/\s/, 1)
  await works(home, ['keys', 'revoke', id])
}

async function authWorks(home: Home): Promise<void> {
  const stored = await home.synapse(['auth', 'openai'], { input: 'sk-a-key-of-a-test\n', process: true })
  assert.equal(stored.code, 0, stored.err)
  assert.match(await works(home, ['auth', '--list']), /^openai .*test$/m)
}

async function compareWorks(home: Home): Promise<void> {
  const models = ['-m', 'openai/gpt-5.6', '-m', 'anthropic/claude-opus-5']
  assert.match(await works(home, ['compare', '--offline', ...models, 'What time is it?']), /claude-opus-5/)
}

function keysFile(home: Home): string {
  return join(home.folder, '.config', 'synapse', 'keys.json')
}

function writeKeys(home: Home, text: string): void {
  mkdirSync(join(home.folder, '.config', 'synapse'), { recursive: true })
  writeFileSync(keysFile(home), text, { mode: 0o600 })
}

function withAgent(home: Home): void {
  mkdirSync(join(home.folder, 'agents'), { recursive: true })
  writeFileSync(join(home.folder, 'agents', 'helper.yaml'), 'name: helper\nmodel: openai/gpt-5.6\n')
  writeFileSync(join(home.folder, 'synapse.yaml'), 'model: openai/gpt-5.6\n', { mode: 0o600 })
}

async function agentWorks(home: Home): Promise<void> {
  await home.trust()
  await works(home, ['agent', 'list'], ['agent', 'check'], ['agent', 'run', 'helper', '--offline', 'Hello'])
}

function storeOf(home: Home): string {
  return globSync(join(home.folder, 'synapse', '*.db'))[0] ?? ''
}

function inStore(home: Home, sql: string): void {
  const db = new DatabaseSync(storeOf(home))
  db.exec(sql)
  db.close()
}

/** The message says what it says, and what it names works. */
export async function prove(t: TestContext, { text, wrong, says, code = 2, prepare, remedy }: Remedy): Promise<void> {
  const home = newHome(t)
  await works(home, ['--offline', 'Hello'])
  if (text === 'already exists. --copy') await works(home, ['export', '--all', '-o', 'a.jsonl'])
  if (text === 'There are more results: use --limit') await works(home, ['--offline', 'Hello again'])
  const id = await firstId(home)
  prepare?.(home)
  const ran = await home.synapse(wrong.map((word) => (word === 'ID' || word === 'last' ? id : word)))
  assert.match(ran.out + ran.err, says)
  assert.equal(ran.code, code, ran.err)
  await remedy(home)
}
