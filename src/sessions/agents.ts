// The coding agents whose sessions can be carried: where each stores them, how a session is resumed, and which version
// its sessions are written for. Formats are private and change: a newer version than that is worth a warning.

import { join } from 'node:path'
import { badInput } from '../core/error.ts'
import type { NewSession } from '../transcripts/session.ts'
import { geminiHome, geminiProject } from './gemini-projects.ts'
import type { AgentEnvironment } from './environment.ts'

export interface Agent {
  id: string
  name: string
  /** The program name. */
  program: string
  writtenFor: string
  /** The provider that it uses by default; absent if that depends on the user's configuration. */
  usual?: { provider: string; model: string }
  /** The folder with its sessions; nothing else is read. */
  folder(at: AgentEnvironment): string
  /** The names of the files in it, below `folder`; `*` is one name. */
  files: readonly string[]
  /** The folder with the sessions of a working directory, if its name shows it. */
  projectFolder?(cwd: string): string
  /** Where a new session must be, below `folder`; absent if the agent imports it itself. */
  pathFor?(session: NewSession, at: AgentEnvironment): string
  resume(id: string): string[]
}

export const agents: readonly Agent[] = [
  {
    id: 'claude-code',
    name: 'Claude Code',
    program: 'claude',
    writtenFor: '2.1.325',
    usual: { provider: 'anthropic', model: 'claude-opus-5-5' },
    folder: ({ home, env }) => join(env['CLAUDE_CONFIG_DIR'] || join(home, '.claude'), 'projects'),
    files: ['*', '*.jsonl'],
    projectFolder: (cwd) => dashedPath(cwd),
    pathFor: ({ id, cwd }) => join(dashedPath(cwd), `${id}.jsonl`),
    resume: (id) => ['claude', '--resume', id],
  },
  {
    id: 'codex',
    name: 'Codex',
    program: 'codex',
    writtenFor: '0.169.0',
    usual: { provider: 'openai', model: 'gpt-5.5' },
    folder: ({ home, env }) => join(env['CODEX_HOME'] || join(home, '.codex'), 'sessions'),
    files: ['*', '*', '*', 'rollout-*.jsonl'],
    pathFor({ id, startedAt }) {
      const [date = '', time = ''] = startedAt.slice(0, 19).split('T')
      return join(...date.split('-'), `rollout-${date}T${time.replaceAll(':', '-')}-${id}.jsonl`)
    },
    resume: (id) => ['codex', 'resume', id],
  },
  {
    id: 'pi',
    name: 'pi',
    program: 'pi',
    writtenFor: '0.74.2',
    folder: ({ home, env }) =>
      env['PI_CODING_AGENT_SESSION_DIR'] || join(env['PI_CODING_AGENT_DIR'] || join(home, '.pi', 'agent'), 'sessions'),
    files: ['*', '*.jsonl'],
    projectFolder: piFolder,
    pathFor: ({ id, cwd, startedAt }) => join(piFolder(cwd), `${startedAt.replaceAll(/[:.]/g, '-')}_${id}.jsonl`),
    resume: (id) => ['pi', '--session', id],
  },
  {
    id: 'opencode',
    name: 'opencode',
    program: 'opencode',
    writtenFor: '1.18.33',
    folder: ({ home, env }) => join(env['XDG_DATA_HOME'] || join(home, '.local', 'share'), 'opencode'),
    files: ['opencode.db'],
    resume: (id) => ['opencode', '--session', id],
  },
  {
    id: 'gemini-cli',
    name: 'Gemini CLI',
    program: 'gemini',
    writtenFor: '0.61.0',
    usual: { provider: 'google', model: 'gemini-3.1-pro-preview' },
    folder: (at) => join(geminiHome(at), 'tmp'),
    files: ['*', 'chats', 'session-*'],
    pathFor({ id, cwd, startedAt }, at) {
      const minute = startedAt.slice(0, 16).replace(':', '-')
      return join(geminiProject(cwd, at).name, 'chats', `session-${minute}-${id.slice(0, 8)}.jsonl`)
    },
    resume: (id) => ['gemini', '--resume', id],
  },
  {
    id: 'qwen-code',
    name: 'Qwen Code',
    program: 'qwen',
    writtenFor: '0.24.4',
    usual: { provider: 'qwen', model: 'qwen3-coder-plus' },
    folder: ({ home, env }) => join(env['QWEN_HOME'] || join(home, '.qwen'), 'projects'),
    files: ['*', 'chats', '*.jsonl'],
    projectFolder: (cwd) => dashedPath(cwd),
    pathFor: ({ id, cwd }) => join(dashedPath(cwd), 'chats', `${id}.jsonl`),
    resume: (id) => ['qwen', '--resume', id],
  },
]

export const agentIds: readonly string[] = agents.map(({ id }) => id)

export function agentNamed(id: string): Agent {
  const agent = agents.find((candidate) => candidate.id === id)
  if (!agent) throw badInput(`There is no agent "${id}". The agents are ${agentIds.join(', ')}.`)
  return agent
}

/** Every character but letters and digits is a dash. */
function dashedPath(cwd: string): string {
  return cwd.replaceAll(/[^A-Za-z0-9]/g, '-')
}

function piFolder(cwd: string): string {
  return `--${cwd.replace(/^[/\\]/, '').replaceAll(/[/\\:]/g, '-')}--`
}
