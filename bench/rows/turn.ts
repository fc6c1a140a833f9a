// What a turn costs before its request leaves, at any length of a conversation, through the library.

import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { handWritten } from '../api/loops.ts'
import { runInTurn, startUpstream } from '../api/processes.ts'
import { median } from '../measure.ts'
import { ratio, type Check, type Row } from '../row.ts'

interface Measured {
  cold: number
  warm: number
  next: number[]
}

/** In turns of a loop written by hand: one takes about a millisecond. */
const bounds: Record<number, { first: number; next: number }> = {
  100: { first: 20, next: 3 },
  2000: { first: 40, next: 5 },
  20_000: { first: 150, next: 10 },
  100_000: { first: 500, next: 30 },
}

export const turn: Row = {
  name: 'turn',
  about:
    'A stored conversation (SQLite, default policy) that a process opens and continues: processor time from `send` until the request is handed over. First turn, new process: nothing was compiled before. First turn, running process: it opens another conversation of this length, after sixteen turns in the first one. Next turns: the median of 15 in a new process. All are medians of several processes. A turn of a loop written by hand over `fetch`, measured before and after each, = 1.',

  async run({ quick }) {
    const sizes = Object.keys(bounds)
      .map(Number)
      .slice(0, quick ? 2 : undefined)
    const lines: (string | number)[][] = []
    const checks: Check[] = []
    for (const size of sizes) {
      // Next to each one, since the speed of a machine changes.
      const before = await msByHand()
      const { cold, warm, usual } = measured(size, quick ? 1 : processesFor(size))
      const unit = (before + (await msByHand())) / 2
      const bound = bounds[size] ?? { first: 0, next: 0 }
      lines.push([
        size,
        ...[cold, warm, usual].flatMap((ms) => [Number(ms.toPrecision(3)), ratio(ms, unit)]),
        unit.toFixed(2),
      ])
      checks.push(
        { what: `a turn at ${size} messages`, value: usual / unit, bound: bound.next, excuse: turnExcuse },
        {
          what: `the first turn at ${size} messages, new process`,
          value: cold / unit,
          bound: bound.first,
          excuse: coldExcuse,
        },
        {
          what: `the first turn at ${size} messages, running process`,
          value: warm / unit,
          bound: bound.first,
          excuse: warmExcuse,
        },
      )
    }
    const columns = ['first turn, new process', 'first turn, running process', 'next turns']
    const head = ['messages', ...columns.flatMap((column) => [`${column}, ms`, '× by hand']), 'by hand, ms']
    return {
      tables: [{ head, lines }],
      checks,
      remarks: [
        'The conversation has had a turn before the process that is measured, so that its decisions are recorded.',
      ],
    }
  },
}

/** A turn of a loop with a tool over `fetch`, as in the row `loop`. */
async function msByHand(): Promise<number> {
  const steps = 50
  const upstream = await startUpstream()
  try {
    const [floor] = await runInTurn([handWritten], `${upstream.origin}/${steps}/1000`, 5)
    return (floor?.ms ?? Number.NaN) / (steps + 1)
  } finally {
    upstream.stop()
  }
}

const turnExcuse =
  'one durable commit and three dozen short statements take about 0.8 ms; planning, encoding and storing the body about 1.4 ms at 100 messages and 2.5 ms at 2,000, where everything is sent; the rest is code of a run that fifteen turns do not warm up, and the garbage collector. Folds, their sizes, pairs, media, ids and names of calls are continued from the turn before, and folds are found by their list, without comparing each of them (0.2 ms less at 2,000 messages). By a profile of 100 turns there, encoding takes a seventh, the statements and the commit a tenth, applying the known folds a twelfth, copying and cutting the body a twelfth, and no other step more than a twentieth. The body has 67 pieces, which are looked up and referred to one by one. Tried: all of them in two statements, which looks them up faster (0.06 instead of 0.08 ms) but adds them more slowly (0.40 instead of 0.23 ms)'
const coldExcuse =
  'a new process compiles all that a turn runs, and runs it unoptimised at first: the column for a running process shows how much that is. By a profile of one turn at 100 messages, planning takes a third, loading the wire and the catalogue of models an eighth, and the rest is spread over the start of the run, the store and the request, with no function above a twentieth. The compile cache of Node would help, but it is a setting of the whole process, which a library leaves alone. Tried: one file of the package for each wire instead of one for all, which took 10 ms away; texts searched with regular expressions and tables, which are fast from the first call'
const warmExcuse =
  'at 2,000 messages, where everything is sent, by a profile of 8 openings: the garbage collector takes a fifth, the specific words of folded turns a sixth, reading, checking and parsing 3 MB of JSON a sixth, counting tokens an eighth, the rest of the folds a tenth, encoding, writing and storing the body a tenth. Folded results are counted only as far as a plan needs, which took about an eighth of the turn away. At 100 messages one process takes 8 ms and the next 20: in 21 rounds in turn, versions that had been measured with 12 and 17 ms took 13 and 12. What is left is work for every character and every message. Tried: specific words found with one class of characters, which takes a quarter of their time away, and the line of a fold made once, together 4 % of the turn, which is within the noise; the same search over bytes, which is no faster. Tokens of two characters at a time, from bytes, take 6 % less of the counting, and 27 % less in whole numbers, but then some texts count one token less, and where a recorded fold applies depends on the counts. Token counts are not stored with entries, and the words of folds not with the decision: each would save a seventh at most, decisions are read with every turn, and the words also depend on earlier folds and summaries. The results that are folded are read all the same, for other policies, branches and `recall`'

/** The first turn of a short conversation takes twice as long in one process as in the next. */
function processesFor(size: number): number {
  return size <= 2000 ? 7 : 3
}

/** Medians of processes that open the same file. */
function measured(size: number, processes: number): Record<'cold' | 'warm' | 'usual', number> {
  const folder = mkdtempSync(join(tmpdir(), 'synapse-bench-'))
  const child = join(import.meta.dirname, '..', 'api', 'turn.ts')
  const [made, file] = [join(folder, 'made.db'), join(folder, 'log.db')]
  const all: Measured[] = []
  try {
    execFileSync(process.execPath, [child, made, String(size)])
    for (let i = 0; i < processes; i++) {
      copyFileSync(made, file)
      all.push(JSON.parse(execFileSync(process.execPath, [child, file], { encoding: 'utf8' })) as Measured)
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  return {
    cold: median(all.map(({ cold }) => cold)),
    warm: median(all.map(({ warm }) => warm)),
    usual: median(all.map(({ next }) => median(next))),
  }
}
