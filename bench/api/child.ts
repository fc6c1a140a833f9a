// One contender in its own process: runs its loop on request, and reports how much processor time of the main
// thread it took. `node child.ts NAME URL`.

import { loops } from './loops.ts'

const [name = '', url = ''] = process.argv.slice(2)
const began = process.threadCpuUsage()
const open = loops[name]
if (!open) throw new Error(`There is no loop ${name}.`)
const loop = await open(url)
const loadMs = since(began)
process.send?.({ ready: true, loadMs })

process.on('message', (message) => {
  if (message === 'run') void run()
  else void (loop.close?.() ?? Promise.resolve()).then(() => process.exit())
})

async function run(): Promise<void> {
  try {
    const start = process.threadCpuUsage()
    await loop.run()
    process.send?.({ ms: since(start), rss: process.memoryUsage.rss() })
  } catch (error) {
    process.send?.({ failed: error instanceof Error ? error.message : String(error) })
  }
}

function since(start: NodeJS.CpuUsage): number {
  const { user, system } = process.threadCpuUsage(start)
  return (user + system) / 1000
}
