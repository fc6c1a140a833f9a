// Every command in every hostile folder: no canary is sent, no program started, no module imported.

import { describe, test } from 'node:test'
import { hostileFolders } from './hostile-folders.ts'
import { ground } from './matrix.ts'

describe('nothing in a folder that was never trusted is used', { concurrency: 2 }, () => {
  for (const { name } of hostileFolders({ url: 'http://127.0.0.1:1', mark: '/nowhere' })) {
    test(name, { timeout: 175_000 }, async (t) => {
      const { to, run } = await ground(t)
      const folder = hostileFolders(to).find((one) => one.name === name)
      if (!folder) throw new TypeError(`no folder ${name}`)
      await run(folder)
    })
  }
})
