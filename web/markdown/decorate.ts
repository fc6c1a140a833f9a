// What sanitised Markdown still needs: links that show where they lead, images that wait for a click, code that can be
// copied. Only elements and text are made here, never HTML.

import { copyText } from '../parts/clipboard.ts'
import { showFormula } from './formula.ts'
import { highlight } from './highlight.ts'

/** Each is aligned by its own script. */
const texts = 'p, h1, h2, h3, h4, h5, h6, ul, ol, li, blockquote, th, td, dt, dd, summary'

export function dress(fragment: DocumentFragment): void {
  for (const link of fragment.querySelectorAll('a')) dressLink(link)
  for (const image of fragment.querySelectorAll('img')) image.replaceWith(imageStandIn(image))
  for (const code of fragment.querySelectorAll<HTMLElement>('code.language-math')) void showFormula(code)
  for (const code of fragment.querySelectorAll<HTMLElement>('pre > code:not(.language-math)')) dressCode(code)
  for (const table of fragment.querySelectorAll('table')) scrollable(table)
  for (const box of fragment.querySelectorAll<HTMLElement>(texts)) box.dir = 'auto'
  for (const item of fragment.querySelectorAll('li')) if (/^[☐☑] /.test(item.textContent)) item.classList.add('task')
}

function dressLink(link: HTMLAnchorElement): void {
  const href = link.getAttribute('href')
  if (href === null) return
  link.target = '_blank'
  link.rel = 'noopener noreferrer nofollow'
  const host = hostOf(href)
  if (host === '' || link.textContent.includes(host)) return
  link.append(element('span', 'host', host))
}

/** The host of an address: never what comes before an `@`, and in the letters that the network uses. */
export function hostOf(href: string): string {
  try {
    const url = new URL(href)
    return url.protocol === 'mailto:' ? url.pathname : url.host
  } catch {
    return ''
  }
}

/** Nothing is fetched for a model: an image is a link, or is shown on request. */
function imageStandIn(image: HTMLImageElement): HTMLElement {
  const source = image.getAttribute('data-src')
  const name = image.alt || 'Image'
  const box = element('span', 'image-stand-in')
  if (source === null) {
    box.append(`${name} (address not shown)`)
    return box
  }
  if (!source.startsWith('data:')) {
    const link = element('a', '', `${name}: open`) as HTMLAnchorElement
    link.href = source
    dressLink(link)
    box.append(link)
    return box
  }
  const button = element('button', 'plain', `${name}: show`) as HTMLButtonElement
  button.type = 'button'
  button.addEventListener('click', () => {
    const shown = new Image()
    shown.src = source
    shown.alt = name
    box.replaceWith(shown)
  })
  box.append(button)
  return box
}

function dressCode(code: HTMLElement): void {
  const pre = code.parentElement
  if (!pre) return
  const language = /language-([\w+#.-]+)/.exec(code.className)?.[1] ?? ''
  const copy = element('button', 'plain copy', 'Copy') as HTMLButtonElement
  copy.type = 'button'
  copy.addEventListener('click', () => void copyCode(code, copy))
  const wrap = element('button', 'plain copy', 'Wrap') as HTMLButtonElement
  wrap.type = 'button'
  wrap.setAttribute('aria-pressed', 'false')
  wrap.addEventListener('click', () => wrap.setAttribute('aria-pressed', String(pre.classList.toggle('wraps'))))
  const box = element('div', 'code')
  const bar = element('div', 'code-bar')
  bar.append(element('span', '', language || 'text'), wrap, copy)
  pre.replaceWith(box)
  focusable(pre, `Code${language && `, ${language}`}`)
  box.append(bar, pre)
  if (language) void highlight(code, language)
}

async function copyCode(code: HTMLElement, button: HTMLButtonElement): Promise<void> {
  tell(button, (await copyText(code.textContent)) ? 'Copied' : 'Not allowed')
}

function scrollable(table: HTMLTableElement): void {
  const box = element('div', 'table')
  focusable(box, 'Table')
  table.replaceWith(box)
  box.append(table)
}

/** Content wider than the page can be scrolled with the keyboard too. */
function focusable(box: HTMLElement, label: string): void {
  box.tabIndex = 0
  box.setAttribute('role', 'group')
  box.setAttribute('aria-label', label)
}

function tell(button: HTMLButtonElement, text: string): void {
  button.textContent = text
  setTimeout(() => (button.textContent = 'Copy'), 1500)
}

function element(name: string, className: string, text?: string): HTMLElement {
  const made = document.createElement(name)
  if (className) made.className = className
  if (text !== undefined) made.textContent = text
  return made
}
