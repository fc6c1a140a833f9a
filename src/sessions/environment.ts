// The home folder and the environment in which agents are searched. A variable that only a file of a folder sets does
// not choose where sessions are read and written.

import { homedir } from 'node:os'
import { userVariable } from '../config/folder-variables.ts'

export interface AgentEnvironment {
  home: string
  env: NodeJS.ProcessEnv
}

/** The variables by which agents find their folders. */
const folders = [
  'CLAUDE_CONFIG_DIR',
  'CODEX_HOME',
  'PI_CODING_AGENT_SESSION_DIR',
  'PI_CODING_AGENT_DIR',
  'XDG_DATA_HOME',
  'GEMINI_CLI_HOME',
  'QWEN_HOME',
]

export function agentEnvironment(): AgentEnvironment {
  for (const name of folders) userVariable(name, process.env, 'where sessions are')
  return { home: process.env['HOME'] || homedir(), env: process.env }
}
