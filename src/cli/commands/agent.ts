// `synapse agent`: agents from YAML files, listed, checked and run.

import { badInput } from '../../core/error.ts'
import { parse, type Command } from '../command.ts'
import { configOptions } from '../project-config.ts'
import { storeOptions } from '../local-store.ts'

export const agent: Command = {
  usage: `synapse agent list [--json]
synapse agent check [NAME|FILE ...] [--load]
synapse agent run NAME|FILE [options] "…"

Agents are YAML files in the "agents" folder next to synapse.yaml (or in its agentsDir): model, system prompt, tools and
budget. "check" reports every problem with file, line, column and key and exits with 2; it only reads files, and with
--load it also loads the tools' modules. "run" asks an agent; piped input becomes part of the question. "synapse chat
--agent NAME" chats with it. Tool calls that need approval are prompted for; when not interactive they are denied, and
with --json they wait.

  -m, --model MODEL            use another model than the agent's own
  -c, --continue               continue the last conversation with this agent; if there is none, the last one of all
      --conversation ID        continue this conversation, with any agent
  -y, --yes                    approve every tool call
      --offline                use the built-in emulator
      --json                   print every event as a line of JSON
      --config FILE            use this synapse.yaml
      --no-config              ignore every synapse.yaml
      --db FILE                database file or postgres:// URL`,

  async run(argv) {
    const { values, positionals } = parse(argv, Infinity, {
      ...configOptions,
      ...storeOptions,
      model: { type: 'string', short: 'm' },
      continue: { type: 'boolean', short: 'c' },
      conversation: { type: 'string' },
      yes: { type: 'boolean', short: 'y' },
      offline: { type: 'boolean' },
      json: { type: 'boolean' },
      load: { type: 'boolean' },
    })
    const [what, ...rest] = positionals
    if (what === 'list' || what === 'check') {
      if (what === 'list' && rest.length > 0) throw badInput(`Unexpected argument "${rest[0]}": all agents are listed.`)
      const { listAgents, checkAgents } = await import('../agent-list.ts')
      return what === 'list' ? listAgents(values) : checkAgents(rest, values)
    }
    if (what !== 'run')
      throw badInput('Name a subcommand: synapse agent list, synapse agent check or synapse agent run NAME "…".')
    const [name, ...words] = rest
    if (name === undefined) throw badInput('Name the agent: synapse agent run NAME "…".')
    const [{ answerOnce }, { questionOf }] = await Promise.all([import('../answer-once.ts'), import('../piped.ts')])
    const question = await questionOf(words)
    if (question === '') throw badInput(`Give a task: synapse agent run ${name} "…".`)
    return answerOnce({ ...values, agent: name }, [{ type: 'text', text: question }])
  },
}
