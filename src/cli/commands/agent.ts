// `synapse agent`: agents from YAML files, listed, checked and run.

import { badInput } from '../../core/error.ts'
import { parse, type Command } from '../command.ts'
import { configOptions } from '../project-config.ts'
import { storeOptions } from '../local-store.ts'

export const agent: Command = {
  usage: `synapse agent list [--json]
synapse agent check [NAME|FILE ...] [--load]
synapse agent run NAME|FILE [options] "…"

Agents are YAML files in the folder "agents" beside synapse.yaml (or in its agentsDir): who answers, what it is told,
which tools it has, what it may cost. "check" names everything that is wrong with file, line, column and key, and then
ends with 2; it reads files only, and with --load it also loads the modules of the tools. "run" asks one of them; what
is piped in is part of the question. "synapse chat --agent NAME" chats with it. Calls that need approval are asked about;
when not interactive they are denied, and with --json they wait.

  -m, --model PROVIDER/MODEL   another model than the agent's own
  -c, --continue               continue the last conversation with this agent
      --conversation ID        continue this one
  -y, --yes                    approve every tool call
      --offline                let the built-in emulator answer
      --json                   print every event as a line of JSON
      --config FILE            another synapse.yaml
      --no-config              without any synapse.yaml
      --db FILE                where conversations are kept`,

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
      if (what === 'list' && rest.length > 0) throw badInput(`"${rest[0]}" is too much: all agents are listed.`)
      const { listAgents, checkAgents } = await import('../agent-list.ts')
      return what === 'list' ? listAgents(values) : checkAgents(rest, values)
    }
    if (what !== 'run')
      throw badInput('Say what to do: synapse agent list, synapse agent check, or synapse agent run NAME "…".')
    const [name, ...words] = rest
    if (name === undefined) throw badInput('Name the agent: synapse agent run NAME "…".')
    const [{ answerOnce }, { questionOf }] = await Promise.all([import('../answer-once.ts'), import('../piped.ts')])
    const question = await questionOf(words)
    if (question === '') throw badInput(`Say what ${name} shall do: synapse agent run ${name} "…".`)
    return answerOnce({ ...values, agent: name }, [{ type: 'text', text: question }])
  },
}
