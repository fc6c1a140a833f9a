// What the rules about one body share.

import type { Issue, Profile } from '../wire.ts'

export interface Check {
  profile: Profile
  vertex: boolean
  refuse(rule: string, message: string): void
}

export function checking(profile: Profile, issues: Issue[]): Check {
  return {
    profile,
    vertex: profile.provider?.includes('vertex') ?? false,
    refuse: (rule, message) => issues.push({ rule, status: 400, type: 'INVALID_ARGUMENT', message }),
  }
}

/** The parser's error for an unknown field of a message. */
export function unknownName(key: string, at: string): string {
  const where = at === '' ? '' : ` at '${at}'`
  return `Invalid JSON payload received. Unknown name "${key}"${where}: Cannot find field.`
}
