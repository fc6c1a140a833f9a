// The home folder and the environment in which agents are looked for.

import { homedir } from 'node:os'

export interface Surroundings {
  home: string
  env: NodeJS.ProcessEnv
}

export function surroundings(): Surroundings {
  return { home: process.env['HOME'] || homedir(), env: process.env }
}
