// `synapse completion`: completion scripts for three shells. They call the program for each word, so that they know the
// current conversations, agents and models.

import { badInput } from '../../core/error.ts'
import { type Command, exitCode, parse } from '../command.ts'
import { print } from '../print.ts'

const bash = `_synapse() {
  local word="\${COMP_WORDS[COMP_CWORD]}"
  COMPREPLY=($(compgen -W "$(synapse completion words "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)" -- "$word"))
  if [[ \${#COMPREPLY[@]} == 0 ]]; then COMPREPLY=($(compgen -f -- "$word"))
  elif [[ "\${COMPREPLY[0]}" == *= ]]; then compopt -o nospace 2>/dev/null; fi
}
complete -o filenames -F _synapse synapse
`

const zsh = `#compdef synapse
_synapse() {
  local -a found
  found=(\${(f)"$(synapse completion words "\${(@)words[2,CURRENT]}" 2>/dev/null)"})
  if (( \${#found} )); then
    compadd -- \${found:#*=}
    compadd -S '' -- \${(M)found:#*=}
  else _files; fi
}
compdef _synapse synapse
`

const fish = `function __synapse
  set -l before (commandline -opc)
  set -l found (synapse completion words $before[2..] "$(commandline -ct)" 2>/dev/null)
  if test (count $found) -gt 0
    printf '%s\\n' $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c synapse -f -a '(__synapse)'
`

const scripts: Record<string, string> = { bash, zsh, fish }

export const completion: Command = {
  usage: `synapse completion bash|zsh|fish

Prints a shell script that completes commands, options, models, conversations, agents, prompts and formats:

  bash    source <(synapse completion bash)              in ~/.bashrc
  zsh     source <(synapse completion zsh)               in ~/.zshrc
  fish    synapse completion fish | source               in ~/.config/fish/config.fish`,

  async run(argv) {
    // Called by the scripts: the typed words, the last of them incomplete.
    if (argv[0] === 'words') {
      const { candidates } = await import('../complete.ts')
      print((await candidates(argv.slice(1))).map((word) => `${word}\n`).join(''))
      return exitCode.ok
    }
    const { positionals } = parse(argv, 1, {})
    const [shell = ''] = positionals
    if (!Object.hasOwn(scripts, shell)) {
      throw badInput(`Name the shell: synapse completion ${Object.keys(scripts).join('|')}.`)
    }
    print(scripts[shell] ?? '')
    return exitCode.ok
  },
}
