// The last step before model or tool output becomes part of the page, and the only place where text becomes elements.
// What is allowed is listed here; everything else is text or nothing. Images lose their address already in the inert
// document: an image element starts loading before it is inserted.

import DOMPurify, { type Config } from 'dompurify'

const tags = `p br hr h1 h2 h3 h4 h5 h6 strong em b i u s del ins mark sub sup small code pre kbd samp var blockquote
  ul ol li dl dt dd table thead tbody tfoot tr th td caption a img details summary span abbr ruby rt rp q`.split(/\s+/)
const attributes = ['href', 'title', 'src', 'alt', 'align', 'start', 'colspan', 'rowspan', 'class']

/** Only the classes of the Markdown renderer and the highlighter. */
const allowedClass = /^(?:language-[\w+#.-]{1,40}|hljs(?:-[\w-]{1,40})?(?: [\w-]{1,40}_)*)$/
const linkScheme = /^(?:https?|mailto):/i
const imageScheme = /^(?:https?:|data:image\/(?:png|jpeg|gif|webp);base64,)/i

const policy = (window as Window & WithTrustedTypes).trustedTypes?.createPolicy('synapse', {
  createHTML: (html: string) => html,
  // DOMPurify requires these hooks; nothing may become a script.
  createScriptURL: refuse,
  createScript: refuse,
})

interface WithTrustedTypes {
  trustedTypes?: {
    createPolicy(name: string, rules: Record<string, (text: string) => string>): Policy
  }
}

type Policy = NonNullable<Config['TRUSTED_TYPES_POLICY']>

function refuse(): never {
  throw new TypeError('scripts are never made from text')
}

const purify = DOMPurify(window)
/** Only for formulas: a formula allows what a text does not, and vice versa. */
const purifyMath = DOMPurify(window)

purify.addHook('afterSanitizeAttributes', (node) => {
  const name = node.nodeName.toLowerCase()
  const className = node.getAttribute('class')
  if (className !== null && !allowedClass.test(className)) node.removeAttribute('class')
  if (name !== 'a') node.removeAttribute('href')
  else if (!linkScheme.test(node.getAttribute('href') ?? '')) node.removeAttribute('href')
  const source = node.getAttribute('src')
  node.removeAttribute('src')
  if (name === 'img' && source !== null && imageScheme.test(source)) node.setAttribute('data-src', source)
})

export function sanitize(html: string): DocumentFragment {
  return purify.sanitize(html, {
    ALLOWED_TAGS: tags,
    ALLOWED_ATTR: attributes,
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
    ALLOWED_NAMESPACES: ['http://www.w3.org/1999/xhtml'],
    RETURN_DOM_FRAGMENT: true,
    ...(policy && { TRUSTED_TYPES_POLICY: policy }),
  })
}

const mathTags = `math mrow mi mn mo ms mtext mspace mfrac msqrt mroot msub msup msubsup munder mover munderover
  mmultiscripts mprescripts mtable mtr mtd mstyle mpadded mphantom menclose merror semantics`.split(/\s+/)
const mathAttributes = `display displaystyle scriptlevel mathvariant stretchy symmetric fence separator form largeop
  movablelimits accent accentunder lspace rspace minsize maxsize width height depth linethickness columnalign rowspacing
  columnspacing columnlines rowlines rowspan columnspan notation`.split(/\s+/)

/** MathML and nothing else: no links, no styles, no other elements inside. */
export function sanitizeMath(mathml: string): DocumentFragment {
  return purifyMath.sanitize(mathml, {
    ALLOWED_TAGS: mathTags,
    ALLOWED_ATTR: mathAttributes,
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
    ALLOWED_NAMESPACES: ['http://www.w3.org/1998/Math/MathML', 'http://www.w3.org/1999/xhtml'],
    RETURN_DOM_FRAGMENT: true,
    ...(policy && { TRUSTED_TYPES_POLICY: policy }),
  })
}
