// The last step before anything a model or a tool said becomes part of the page, and the only place where text becomes
// elements. What is allowed is listed here; everything else is text or nothing. Images lose their address in the inert
// document already: an image element begins to load before anybody inserts it.

import DOMPurify, { type Config } from 'dompurify'

const tags = `p br hr h1 h2 h3 h4 h5 h6 strong em b i u s del ins mark sub sup small code pre kbd samp var blockquote
  ul ol li dl dt dd table thead tbody tfoot tr th td caption a img details summary span abbr ruby rt rp q`.split(/\s+/)
const attributes = ['href', 'title', 'src', 'alt', 'align', 'start', 'colspan', 'rowspan', 'class']

/** Only the classes that the Markdown renderer and the highlighter give. */
const allowedClass = /^(?:language-[\w+#.-]{1,40}|hljs(?:-[\w-]{1,40})?(?: [\w-]{1,40}_)*)$/
const linkScheme = /^(?:https?|mailto):/i
const imageScheme = /^(?:https?:|data:image\/(?:png|jpeg|gif|webp);base64,)/i

const policy = (window as Window & WithTrustedTypes).trustedTypes?.createPolicy('synapse', {
  createHTML: (html: string) => html,
  // DOMPurify wants them to be there; nothing may become a script.
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
