// The part of the formula typesetter that is loaded late: TeX becomes MathML, which browsers render themselves. Its
// output is untrusted text, and is sanitised like any other.

import temml from 'temml'

/** Undefined for invalid TeX. */
export function typeset(tex: string, isBlock: boolean): string | undefined {
  try {
    return temml.renderToString(tex, { displayMode: isBlock, throwOnError: true, trust: false, maxExpand: 200 })
  } catch {
    return undefined
  }
}
