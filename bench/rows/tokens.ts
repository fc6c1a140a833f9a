// The estimate against exact tokenizers: error by kind of text, and speed.

import { encode as encodeO200k } from 'gpt-tokenizer/encoding/o200k_base'
import { getEncoding } from 'js-tiktoken'
import { estimateTokens } from '../../src/context/count.ts'
import { samples } from '../samples.ts'
import { timeInTurn } from '../measure.ts'
import type { Row } from '../row.ts'

export const tokens: Row = {
  name: 'tokens',
  about: 'Tokens of each kind of text by estimate against o200k, and megabytes per second against exact tokenizers.',

  async run({ quick }) {
    const kinds = Object.entries(samples()).map(([kind, texts]) => {
      const exact = texts.reduce((sum, text) => sum + encodeO200k(text, { allowedSpecial: 'all' }).length, 0)
      const guessed = texts.reduce((sum, text) => sum + estimateTokens(text), 0)
      return { kind, exact, guessed, error: guessed / exact - 1, corrected: afterThreeTurns(texts) }
    })
    const text = Object.values(samples())
      .flat()
      .join('\n')
      .repeat(quick ? 1 : 4)
    const slow = getEncoding('o200k_base')
    const timed = await timeInTurn([
      { name: 'estimate', run: () => estimateTokens(text) },
      { name: 'gpt-tokenizer', run: () => encodeO200k(text, { allowedSpecial: 'all' }).length },
      { name: 'js-tiktoken', run: () => slow.encode(text.slice(0, 20_000), 'all').length },
    ])
    const speed = (name: string, length: number) =>
      length / 1e6 / ((timed.find((one) => one.name === name)?.ms ?? 1) / 1000)
    const speeds = {
      estimate: speed('estimate', text.length),
      gpt: speed('gpt-tokenizer', text.length),
      js: speed('js-tiktoken', Math.min(20_000, text.length)),
    }
    return {
      tables: [
        {
          head: ['text', 'o200k', 'estimate', 'error', 'after three turns'],
          lines: [
            ...kinds.map(({ kind, exact, guessed, error, corrected }) => [
              kind,
              exact,
              guessed,
              percent(error),
              percent(corrected),
            ]),
            [
              'speed, MB/s',
              `gpt-tokenizer ${speeds.gpt.toFixed(1)}, js-tiktoken ${speeds.js.toFixed(1)}`,
              speeds.estimate.toFixed(0),
              '',
              '',
            ],
          ],
        },
      ],
      checks: [
        ...kinds.map(({ kind, error }) => ({
          what: `error on ${kind}`,
          value: Math.abs(error),
          bound: 0.07,
          exact: true,
        })),
        ...kinds.map(({ kind, corrected }) => ({
          what: `error on ${kind} after three turns with reported usage`,
          value: Math.abs(corrected),
          bound: 0.02,
          exact: true,
          ...(kind === 'CJK' && { excuse: ofFiftyTokens }),
          ...(kind === 'JSON' && { excuse: ofTwoKinds }),
        })),
        {
          what: 'speed against the fastest exact tokenizer',
          value: speeds.estimate / Math.max(speeds.gpt, speeds.js),
          bound: 5,
          atLeast: true,
        },
      ],
    }
  },
}

const ofFiftyTokens =
  'a turn of this sample has fifty tokens, and a sixth of them depends on how common its words are, which only a table of words would know'

const ofTwoKinds =
  'after its third turn the sample goes over from one kind of JSON to another, and the ratio that was seen so far is that of the first; one turn later it is kept'

/**
 * A conversation of ten turns in this kind of text: after the third, the prompt that was reported last counts as it is,
 * and only what came since is estimated, at the ratio seen so far. The largest error of a prompt from then on.
 */
function afterThreeTurns(texts: readonly string[]): number {
  const all = texts.join('\n')
  const length = Math.ceil(all.length / 10)
  const turns = Array.from({ length: 10 }, (_, i) => all.slice(i * length, (i + 1) * length).toWellFormed())
  let [exact, guessed, worst] = [0, 0, 0]
  for (const [turn, text] of turns.entries()) {
    const added = encodeO200k(text, { allowedSpecial: 'all' }).length
    const estimate = estimateTokens(text)
    const error = (exact + (estimate * exact) / Math.max(1, guessed)) / (exact + added) - 1
    if (turn >= 3 && Math.abs(error) > Math.abs(worst)) worst = error
    exact += added
    guessed += estimate
  }
  return worst
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`
}
