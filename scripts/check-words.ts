// Finds words in code, messages and docs for which the field has a standard term, and names it. Run by `npm run check`.

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const places = ['src/**/*.ts', 'web/**/*.{ts,tsx}', 'docs/**/*.md', 'bench/**/*.ts', 'scripts/**/*.ts', '*.md']
const self = join('scripts', 'check-words.ts')

/** What is found → what to write instead. */
const words: readonly [RegExp, string][] = [
  [/\b(go|goes|went|going) on\b(?! (disk|to|the|a)\b)/i, 'continue'],
  [/\bunless (told|said)\b/i, 'by default'],
  [/\bwhat it comes to\b/i, 'the result'],
  [/\bis right[.:]/i, 'is valid'],
  [/\b(stands?|stood) (right |directly )?behind\b/i, 'comes after'],
  [/\b(stands?|stood) before\b/i, 'comes before'],
  [/\bright behind\b/i, 'right after'],
  [/\bin the place of\b/i, 'in place of'],
  [/\bmend(s|ed|ing)?\b/i, 'repair'],
  [/\bat home\b/i, 'local'],
  [/\bfor ever\b/i, 'forever'],
  [/\banew\b/i, 'again'],
  [/\banybody\b/i, 'anyone'],
  [/\bfor want of\b/i, 'for lack of, or without'],
  [/\bin the words of\b/i, 'with the message of'],
  [/\b(is|are|were|being) told\b/i, 'is informed, gets a message'],
  [/\bas (it|they) came\b/i, 'unchanged'],
  [/\b(leave|leaves|leaving|left) (it |them |\w+s )?away\b/i, 'leave out'],
  [/\b(nobody|somebody|whoever)\b/i, 'the user, the caller, the client, or a passive sentence'],
  [/\bno one\b/i, 'nothing, or name who'],
  [/\bbeside\b/i, 'next to, besides, with or in addition to'],
  [/\bstands? (beside|apart|side by side|there|where|alone)\b/i, 'is'],
  [/\bunder way\b/i, 'active or in progress'],
  [/\bbroke off\b/i, 'was interrupted'],
  [/\bgo(es)? out\b/i, 'is sent'],
  [/\bcame of\b/i, 'the result or outcome of'],
  [/\bin (its|their) own words\b/i, 'unchanged, natively or with its error message'],
  [/\b(is|are|was|stays) away\b/i, 'unreachable or unavailable'],
  [/\bput right\b/i, 'repair'],
  [/\bat any moment\b/i, 'at any time'],
  [/\btold as text\b/i, 'written as text'],
  [/\bis not right\b/i, 'is not valid'],
  [/\bmay it run\b/i, 'allow this call'],
  [/\b(house|desk|shelf|manners|journey)\b/i, 'the standard term for the thing'],
  [/\b(wish|wishes)\b/i, 'options or request'],
  [/\b(wire|provider|host) (takes|wants)\b(?! over)/i, 'accepts, supports or requires'],
  [/\b(request|reply|transcript|journal|stream) holds\b/i, 'has or contains'],
  [/\bfor people\b/i, 'readable, or displayed'],
  [/\band not why\b/i, 'without a reason'],
  [/\b(good|right) only for\b/i, 'valid only for'],
]

/** Definitions whose name does not say what the value is. */
const vagueName: [RegExp, string] = [
  /\b(?:const|let|function|interface|type)\s+[[{]?\s*(?:kept|said|told)\b|[(,{]\s*(?:kept|said|told)\??(?::|\)| =>)|\b(?:kept|said|told)[A-Z]|[a-z](?:Kept|Said|Told)\b|\b(?:Kept|Said|Told)[A-Z<]/,
  'what the value is: stored, cached, remaining, content, request, reported',
]

const found: string[] = []
for (const file of places.flatMap((pattern) => globSync(pattern, { cwd: root }))) {
  if (file === self || file.includes('node_modules') || file === 'CHANGELOG.md') continue
  for (const [index, line] of readFileSync(join(root, file), 'utf8').split('\n').entries()) {
    const rules = /\.tsx?$/.test(file) && !/^\s*(\/\/|\/?\*)/.test(line) ? [...words, vagueName] : words
    for (const [word, instead] of rules) {
      const hit = word.exec(line)
      if (hit) found.push(`${file}:${index + 1}: "${hit[0]}": say ${instead}`)
    }
  }
}
for (const line of found) console.error(line)
if (found.length > 0) {
  console.error(`${found.length} words to replace.`)
  process.exitCode = 1
}
