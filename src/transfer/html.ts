// A readable conversation: one self-contained HTML file without scripts. Everything in it is untrusted: all text is
// escaped, links lead only to http, https and mailto, media are shown only if they are embedded images of a known type,
// and its content security policy forbids the rest.

import type { Conversation, Entry } from '../core/log.ts'
import type { MediaPart, Part } from '../core/message.ts'
import { speakerOf } from './markdown.ts'

export function toHtml(about: Pick<Conversation, 'title' | 'id'>, entries: readonly Entry[]): string {
  const title = escape(about.title ?? about.id)
  const body = entries.map(({ message, at }) => {
    const parts = message.parts.map(partHtml).join('\n')
    return `<article class="${message.role}">\n<h2>${escape(speakerOf(message))}</h2>\n<time>${escape(at)}</time>\n${parts}\n</article>`
  })
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${style}</style>
</head>
<body>
<h1>${title}</h1>
${body.join('\n')}
</body>
</html>
`
}

const style = `
body { max-width: 50rem; margin: 2rem auto; padding: 0 1rem; font: 16px/1.5 system-ui, sans-serif; color: #222; background: #fff }
h1 { font-size: 1.4rem } h2 { font-size: 0.9rem; margin: 0; display: inline-block }
time { color: #666; font-size: 0.8rem; margin-left: 0.5rem }
article { border-top: 1px solid #ddd; padding: 0.8rem 0 } article.user { background: #f6f7f9; padding: 0.8rem; border-radius: 6px }
.text, pre { white-space: pre-wrap; overflow-wrap: anywhere } .text { margin: 0.3rem 0 }
pre { background: #f2f2f2; padding: 0.6rem; border-radius: 4px; font-size: 0.85rem }
.reasoning { color: #555; font-style: italic } .failed { color: #a00 } img { max-width: 100% }
@media (prefers-color-scheme: dark) { body { background: #16181c; color: #ddd } article { border-color: #333 }
article.user, pre { background: #22252b } a { color: #8ab4f8 } time { color: #999 } }
`

function partHtml(part: Part): string {
  switch (part.type) {
    case 'text':
      return `<div class="text">${linkedHtml(part.text)}</div>`
    case 'refusal':
      return `<div class="text failed">${linkedHtml(part.text)}</div>`
    case 'reasoning':
      return part.text === ''
        ? ''
        : detailsHtml('reasoning', `<div class="text reasoning">${linkedHtml(part.text)}</div>`)
    case 'media':
      return mediaHtml(part)
    case 'tool-call':
      return detailsHtml(
        `→ ${part.name}`,
        `<pre>${escape(part.malformed ?? JSON.stringify(part.input, null, 2))}</pre>`,
      )
    case 'tool-result':
      return detailsHtml(
        `← ${part.name}${part.failed ? ' (failed)' : ''}`,
        part.output
          .map((output) => (output.type === 'text' ? `<pre>${linkedHtml(output.text)}</pre>` : mediaHtml(output)))
          .join('\n'),
      )
    case 'server-tool':
      return detailsHtml(
        `⇄ ${part.name}`,
        `<pre>${escape(JSON.stringify({ input: part.input, output: part.output }, null, 2))}</pre>`,
      )
    case 'compaction':
      return part.text === undefined ? '' : detailsHtml('summary', `<div class="text">${linkedHtml(part.text)}</div>`)
    case 'opaque':
      return `<p class="reasoning">(${escape(part.kind)})</p>`
    default:
      return part satisfies never
  }
}

function detailsHtml(name: string, inner: string): string {
  return `<details open><summary>${escape(name)}</summary>${inner}</details>`
}

/** Not SVG: it can contain scripts and links. */
const pictures = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp'])

function mediaHtml({ mediaType, name, data }: MediaPart): string {
  const what = escape(`${mediaType}${name === undefined ? '' : ` ${name}`}`)
  if (data.kind === 'base64' && pictures.has(mediaType) && /^[A-Za-z0-9+/=]*$/.test(data.base64)) {
    return `<img alt="${what}" src="data:${mediaType};base64,${data.base64}">`
  }
  if (data.kind === 'url') return `<p>[${what}] ${linkedHtml(data.url)}</p>`
  return `<p>[${what}]</p>`
}

/** Escaped text in which URLs are links. The URL is shown unchanged: a link leads where it says. */
function linkedHtml(text: string): string {
  let html = ''
  let end = 0
  for (const match of text.matchAll(/\b(?:https?:\/\/|mailto:)[^\s<>"'`\p{Cc}\p{Bidi_Control}]{1,2000}/giu)) {
    const address = match[0].replace(/[.,;:!?)\]}]+$/, '')
    if (!URL.canParse(address)) continue
    const label = escape(address)
    html += `${escape(text.slice(end, match.index))}<a rel="noopener noreferrer nofollow" href="${label}">${label}</a>`
    end = match.index + address.length
  }
  return html + escape(text.slice(end))
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

function escape(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[&<>"']/g, (character) => entities[character] ?? '')
    .replaceAll(/[[\p{Cc}\p{Bidi_Control}]--[\t\n]]/gv, '\uFFFD')
}
