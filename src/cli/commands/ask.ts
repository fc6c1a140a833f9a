// `synapse "…"`: one question, one answer. Piped input is part of the question.

import { badInput } from '../../core/error.ts'
import { answerOnce } from '../answer-once.ts'
import { withFiles } from '../attachments.ts'
import { type Command, parse } from '../command.ts'
import { isRowNumber } from '../local-store.ts'
import { questionOf } from '../text-file.ts'
import { projectConfig, type ConfigValues } from '../project-config.ts'
import { askFlags } from '../session-flags.ts'

/** `synapse -c 3 "And then?"`: a row number of "synapse log", if words follow it. */
function rowBefore(positionals: string[], continues: boolean): { row?: string; words: string[] } {
  const [first, ...words] = positionals
  return continues && first !== undefined && words.length > 0 && isRowNumber(first)
    ? { row: first, words }
    : { words: positionals }
}

/** Words of the form key=value fill in the prompt; the others, and piped input, are its input. */
async function promptText(name: string, words: readonly string[], values: ConfigValues): Promise<string> {
  const [{ filledPrompt }, { builtInConfig }, { trustedPrompt }] = await Promise.all([
    import('../../agents/fill-prompt.ts'),
    import('../../config/load.ts'),
    import('../trusted.ts'),
  ])
  const config = values['no-config'] ? undefined : ((await projectConfig(values)) ?? builtInConfig())
  const prompt = await trustedPrompt(name, config)
  const isValue = (word: string) => /^[A-Za-z_]\w*=/.test(word)
  const pairs = words
    .filter(isValue)
    .map((word) => [word.slice(0, word.indexOf('=')), word.slice(word.indexOf('=') + 1)])
  const input = await questionOf(words.filter((word) => !isValue(word)))
  return filledPrompt(prompt, Object.fromEntries(pairs) as Record<string, string>, input)
}

export const ask: Command = {
  usage: 'synapse [options] "question"',

  async run(argv) {
    const { values, positionals } = parse(argv, Infinity, askFlags)
    const { fragment = [], attach = [], resume } = values
    const { row, words } = rowBefore(positionals, values.continue === true)
    if (row !== undefined) values.conversation = row
    const named = values.prompt ?? values.template
    const text = named === undefined ? await questionOf(words) : await promptText(named, words, values)
    const question = withFiles(text, fragment, attach)
    if (resume) {
      if (question.length > 0) throw badInput('--resume continues without a question. To ask one, use -c.')
      return answerOnce({ ...values, continue: true })
    }
    if (question.length > 0) return answerOnce(values, question)
    if (!process.stdin.isTTY) throw badInput('No question: give one as an argument or through a pipe.')
    const { chat } = await import('./chat.ts')
    return chat.run(argv)
  },
}
