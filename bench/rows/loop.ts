// A whole loop with a tool, through the entry points that users call, ours and others'.

import { handWritten, loops } from '../api/loops.ts'
import { runInTurn, startUpstream } from '../api/processes.ts'
import { ratio, type Row } from '../row.ts'

const steps = 50

const flat =
  'the profile is flat: a fifth plans the request, a fifth is HTTP of Node, an eighth the garbage collector, and no function of ours takes more than a fiftieth by itself. Gains so far: the endpoint is resolved once per run and the last request is remembered instead of read (together a quarter), headers are passed to Node as a list, a result is digested only if its call was made before (about 10 µs each), and objects of a request have no getters, because V8 keeps what these can reach until a full collection (29 KB of a turn survive a quick one instead of 50; at most a fiftieth of the time, measured on a busy machine). Not measurable: overlays read once per run, a reply read from its connection without a queue, as many workers as calls, settings as fields instead of getters. In a new process a turn takes a third more than after 1,000 turns, because little is compiled by then; the row measures turns 150 to 600'
const durable =
  'in addition, two durable commits for each step, the reply with the start of the tool and the result with the next request: 34 short statements, of which the two commits take half. Each commit writes 18 pages, one for each table and index that changes. Of what SQLite adds to a turn a third is the file and the disk (a database in memory does not have it), and the rest are statements, JSON, hashes, compression and the promises around them. Gains so far: the log is synced in another thread (a fifth), it is copied into the file in another thread, a group of writes has no savepoints, after which SQLite would copy each page that changes (both together a fifteenth of the time in the store), rows that were just written are not read again, a message is written to JSON once, the end of a body is stored in small pieces, and the lease is taken in the first commit. Not measurable: pages of 1, 2 or 8 KB, pieces that are not compressed, one query less for each tool, SQL texts joined once. Not done, because it needs a migration and makes opening or listing conversations slower: without the indexes of open requests, open tool runs and newest conversations a step would write 31 pages instead of 37, and take a twenty-fifth less in the store'

export const loop: Row = {
  name: 'loop',
  about: `A question, ${steps} tool calls with results of 1 KB, and the answer: streamed from a server on loopback, each library called as its users call it, in its own process. Processor time of the main thread per turn; a loop written by hand over \`fetch\` = 1.`,

  async run({ quick }) {
    const upstream = await startUpstream()
    try {
      const names = Object.keys(loops).filter((name) => !quick || name === handWritten || name.startsWith('Synapse'))
      const measured = await runInTurn(names, `${upstream.origin}/${steps}/1000`, quick ? 3 : 9)
      const times = new Map(measured.map(({ name, ms }) => [name, (ms ?? Number.NaN) / (steps + 1)]))
      const least = times.get(handWritten) ?? Number.NaN
      const ours = times.get('Synapse, memory') ?? Number.NaN
      const peers = [...times].filter(([name, ms]) => name !== handWritten && !name.startsWith('Synapse') && ms > 0)
      const best = peers.toSorted(([, a], [, b]) => a - b)[0]
      return {
        tables: [
          {
            head: ['who', 'ms per turn', '× by hand', 'ms to load', 'resident at the end, MB'],
            lines: measured
              .toSorted((a, b) => (a.ms ?? Infinity) - (b.ms ?? Infinity))
              .map(({ name, why, loadMs, rssMb }) => {
                const ms = times.get(name)
                if (why !== undefined) return [name, why, '–', '–', '–']
                return [name, Number(ms?.toPrecision(3)), ratio(ms, least), Math.round(loadMs ?? 0), rssMb ?? 0]
              }),
          },
        ],
        checks: [
          { what: 'in memory, × by hand', value: ours / least, bound: 1.8, excuse: flat },
          {
            what: 'SQLite, × by hand',
            value: (times.get('Synapse, SQLite') ?? Number.NaN) / least,
            bound: 3,
            excuse: durable,
          },
          ...(best
            ? [{ what: `in memory / the fastest peer (${best[0]})`, value: ours / best[1], bound: 1, excuse: flat }]
            : []),
        ],
        remarks: [
          'No peer stores anything, checks a history for pairs, counts tokens, knows prices or notices a loop that repeats itself; SQLite is durable after every step, and is listed for orientation.',
        ],
      }
    } finally {
      upstream.stop()
    }
  },
}
