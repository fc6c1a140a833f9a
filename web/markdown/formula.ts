// Formulas, typeset when the first one is shown. Until then, and if one is invalid, they are shown as code.

import { sanitizeMath } from './sanitize.ts'

/** Longer ones are shown as text. */
const longest = 5000

export async function showFormula(code: HTMLElement): Promise<void> {
  const tex = code.textContent
  const isBlock = code.parentElement?.tagName === 'PRE'
  if (tex.length > longest) return
  const { typeset } = await import('./typeset.ts')
  const mathml = typeset(tex, isBlock)
  if (mathml === undefined || code.textContent !== tex) return
  const box = document.createElement(isBlock ? 'div' : 'span')
  box.className = isBlock ? 'formula block' : 'formula'
  if (isBlock) {
    // Content wider than the page can be scrolled with the keyboard too.
    box.tabIndex = 0
    box.setAttribute('role', 'group')
    box.setAttribute('aria-label', 'Formula')
  }
  box.title = tex
  box.append(sanitizeMath(mathml))
  const old = isBlock ? code.parentElement : code
  old?.replaceWith(box)
}
