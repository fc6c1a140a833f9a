// The part of highlight.js that is loaded late: its core and a few languages.

import hljs from 'highlight.js/lib/core'
import bash from 'highlight.js/lib/languages/bash'
import diff from 'highlight.js/lib/languages/diff'
import json from 'highlight.js/lib/languages/json'
import python from 'highlight.js/lib/languages/python'
import sql from 'highlight.js/lib/languages/sql'
import typescript from 'highlight.js/lib/languages/typescript'
import xml from 'highlight.js/lib/languages/xml'
import yaml from 'highlight.js/lib/languages/yaml'

const languages = { bash, diff, json, python, sql, typescript, xml, yaml }
for (const [name, language] of Object.entries(languages)) hljs.registerLanguage(name, language)
hljs.registerAliases(['js', 'javascript', 'jsx', 'mjs', 'ts', 'tsx'], { languageName: 'typescript' })
hljs.registerAliases(['html', 'svg', 'vue'], { languageName: 'xml' })
hljs.registerAliases(['sh', 'shell', 'zsh', 'console'], { languageName: 'bash' })

export function highlighted(code: string, language: string): string | undefined {
  return hljs.getLanguage(language) && hljs.highlight(code, { language, ignoreIllegals: true }).value
}
