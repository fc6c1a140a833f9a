// Formulas in model output: `\(…\)`, `\[…\]`, `$$…$$` and `$…$`. Markdown would interpret their backslashes and stars;
// here they stay unchanged, and are marked to be typeset (formula.ts).

import type { MarkedExtension, TokenizerAndRendererExtension, Tokens } from 'marked'

const block = /^ {0,3}(?:\$\$([\s\S]+?)\$\$|\\\[([\s\S]+?)\\\])[ \t]*(?:\n|$)/
/** A price is not a formula: no space inside the dollars, and no digit after them. */
const inline =
  /^(?:\\\(([\s\S]+?)\\\)|\\\[([\s\S]+?)\\\]|\$\$([^$]+?)\$\$|\$(?![\s$])((?:\\.|[^$\n\\])*?[^\s\\$])\$(?![\d$]))/

function formula(
  level: 'block' | 'inline',
  rule: RegExp,
  render: (tex: string) => string,
): TokenizerAndRendererExtension {
  const name = `${level}-math`
  return {
    name,
    level,
    // A paragraph is split where a block may begin: only at the start of a line.
    start: (source) => {
      const at = source.search(level === 'block' ? /^ {0,3}(?:\$\$|\\\[)/m : /\$|\\[([]/)
      return at < 0 ? undefined : at
    },
    tokenizer(source): Tokens.Generic | undefined {
      const match = rule.exec(source)
      const tex = match?.slice(1).find((group) => group !== undefined)
      return match && tex !== undefined ? { type: name, raw: match[0], text: tex.trim() } : undefined
    },
    renderer: ({ text }) => render(escaped((text as string | undefined) ?? '')),
  }
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

export const math: MarkedExtension = {
  extensions: [
    formula('block', block, (tex) => `<pre><code class="language-math">${tex}</code></pre>\n`),
    formula('inline', inline, (tex) => `<code class="language-math">${tex}</code>`),
  ],
}
