// `synapse "…"`: one question, one answer. What is piped in is part of the question.

import { badInput } from '../../core/error.ts'
import { answerOnce } from '../answer-once.ts'
import { withFiles } from '../attachments.ts'
import { parse, type Command } from '../command.ts'
import { questionOf } from '../piped.ts'
import { askFlags } from '../session-flags.ts'

export const ask: Command = {
  usage: 'synapse [options] "question"',

  async run(argv) {
    const { values, positionals } = parse(argv, Infinity, askFlags)
    const { fragment = [], attach = [], resume } = values
    const question = withFiles(await questionOf(positionals), fragment, attach)
    if (resume) {
      if (question.length > 0) throw badInput('--resume continues without a question. To ask one, write -c.')
      return answerOnce({ ...values, continue: true })
    }
    if (question.length > 0) return answerOnce(values, question)
    if (!process.stdin.isTTY) throw badInput('There is no question: give one as an argument or through a pipe.')
    const { chat } = await import('./chat.ts')
    return chat.run(argv)
  },
}
