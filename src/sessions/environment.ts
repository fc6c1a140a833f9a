// The home folder and the environment in which agents are looked for.

import { homedir } from 'node:os'

export interface AgentEnvironment {
  home: string
  env: NodeJS.ProcessEnv
}

export function agentEnvironment(): AgentEnvironment {
  return { home: process.env['HOME'] || homedir(), env: process.env }
}
