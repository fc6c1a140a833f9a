// What is in progress is found by its own index: a run looks for it whenever it starts, in conversations of any length.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import test from 'node:test'
import { isUnfinished, sqliteSelects, withOutcome } from '../../src/store/sql/selects.ts'
import { openSqliteStore } from '../../src/store/sqlite.ts'
import { tempFolder } from './temp.ts'

for (const { what, sql, index } of [
  {
    what: 'open exchanges',
    sql: `${sqliteSelects.exchanges} WHERE c.id = 'c' AND c.owner = 'o' ${withOutcome({ outcome: 'open' })}`,
    index: 'exchanges_open',
  },
  {
    what: 'unfinished tools',
    sql: `${sqliteSelects.toolRuns} WHERE c.id = 'c' AND c.owner = 'o' ${isUnfinished}`,
    index: 'tool_runs_open',
  },
]) {
  test(`${what} are found without reading what has ended`, async (t) => {
    const path = join(tempFolder(t), 'log.db')
    await (await openSqliteStore(path)).close()
    const db = new DatabaseSync(path, { readOnly: true })
    t.after(() => db.close())
    const plan = db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all()
    assert.match(JSON.stringify(plan), new RegExp(`USING INDEX ${index}`))
  })
}
