// Markdown that grows. The text is split into blocks each time, but only changed blocks are rendered again: while an
// answer streams that is the last one. Each block is sanitised separately, so an element opened in one cannot reach
// into the next.

import { Lexer, Marked, type Token, type TokensList } from 'marked'
import { dress } from './decorate.ts'
import { math } from './math.ts'
import { sanitize } from './sanitize.ts'

const marked = new Marked({
  gfm: true,
  renderer: {
    checkbox: ({ checked }) => (checked ? '☑ ' : '☐ '),
    html: ({ text }) => plainTagsOnly(text),
  },
})
marked.use(math)

const plainTags =
  /<\/?(?:b|br|dd|del|details|dl|dt|em|i|ins|kbd|li|mark|ol|p|q|s|small|strong|sub|summary|sup|u|ul) ?\/?>/gi

/** HTML in Markdown: a few tags without attributes are allowed, all others are shown as text. */
function plainTagsOnly(text: string): string {
  let out = ''
  let done = 0
  for (const match of text.matchAll(plainTags)) {
    out += escaped(text.slice(done, match.index)) + match[0]
    done = match.index + match[0].length
  }
  return out + escaped(text.slice(done))
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

interface Block {
  raw: string
  nodes: ChildNode[]
}

export interface MarkdownView {
  show(text: string): void
}

export function markdownIn(box: HTMLElement): MarkdownView {
  let blocks: Block[] = []
  let links = ''

  return {
    show(text) {
      const tokens = lexed(text)
      if (!tokens) {
        blocks = []
        box.replaceChildren(plain(text))
        return
      }
      const linksNow = JSON.stringify(tokens.links)
      if (linksNow !== links || blocks.length === 0) {
        blocks = []
        box.replaceChildren()
      }
      links = linksNow
      const same = commonStart(tokens, blocks)
      for (const block of blocks.splice(same)) for (const node of block.nodes) node.remove()
      for (const token of tokens.slice(same)) {
        const nodes = nodesOf(token)
        box.append(...nodes)
        blocks.push({ raw: token.raw, nodes })
      }
    },
  }
}

/** Undefined if the text is nested too deeply. */
function lexed(text: string): TokensList | undefined {
  try {
    return new Lexer(marked.defaults).lex(text)
  } catch {
    return undefined
  }
}

function commonStart(tokens: readonly Token[], blocks: readonly Block[]): number {
  let same = 0
  while (same < blocks.length && same < tokens.length && tokens[same]?.raw === blocks[same]?.raw) same++
  return same
}

function nodesOf(token: Token): ChildNode[] {
  if (token.type === 'space' || token.type === 'def') return []
  try {
    const fragment = sanitize(marked.parser([token]))
    dress(fragment)
    return [...fragment.childNodes]
  } catch {
    return [plain(token.raw)]
  }
}

function plain(text: string): HTMLElement {
  const box = document.createElement('p')
  box.className = 'as-is'
  box.textContent = text
  return box
}
