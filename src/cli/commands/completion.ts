// `synapse completion`: what the tab key offers, for three shells. Models are asked for when they are needed, so the
// script stays right when the list changes.

import { badInput } from '../../core/error.ts'
import { exitCode, parse, type Command } from '../command.ts'
import { commands } from '../main.ts'
import { presetNames } from '../../settings/policy.ts'
import { print } from '../print.ts'
import { optionNames } from '../run-options.ts'
import { askFlags } from '../session-flags.ts'

const shells: Record<string, () => string> = { bash, zsh, fish }

export const completion: Command = {
  usage: `synapse completion bash|zsh|fish

Prints a shell script that completes commands, options and models:

  bash    source <(synapse completion bash)              in ~/.bashrc
  zsh     source <(synapse completion zsh)               in ~/.zshrc
  fish    synapse completion fish | source               in ~/.config/fish/config.fish`,

  async run(argv) {
    const { positionals } = parse(argv, 1, {})
    const [shell = ''] = positionals
    if (shell === 'models') {
      const [{ listModels }, { rowsBeside }, { configIfTrusted }, { catalogue }] = await Promise.all([
        import('../../providers/list-models.ts'),
        import('../project-config.ts'),
        import('../trusted.ts'),
        import('../../providers/catalogue.ts'),
      ])
      print(
        listModels(await rowsBeside(configIfTrusted(), {}), catalogue)
          .map(({ provider, model }) => `${provider}/${model}\n`)
          .join(''),
      )
      return exitCode.ok
    }
    const script = Object.hasOwn(shells, shell) ? shells[shell] : undefined
    if (!script) throw badInput(`Say for which shell: synapse completion ${Object.keys(shells).join('|')}.`)
    print(script())
    return exitCode.ok
  },
}

interface Flag {
  long: string
  short?: string
}

function flags(): Flag[] {
  const own = Object.entries(askFlags).map(([long, option]) => ({
    long: `--${long}`,
    ...('short' in option && { short: `-${option.short}` }),
  }))
  return [...own, { long: '--help', short: '-h' }, { long: '--version', short: '-V' }]
}

function bash(): string {
  const words = flags().flatMap(({ long, short }) => [long, ...(short ? [short] : [])])
  return `_synapse() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}"
  COMPREPLY=()
  case "$before" in
    -m|--model|--for|--to) COMPREPLY=($(compgen -W "$(synapse completion models 2>/dev/null)" -- "$word")); return ;;
    -o|--option) COMPREPLY=($(compgen -W "${optionNames()
      .map((name) => `${name}=`)
      .join(' ')}" -- "$word")); compopt -o nospace; return ;;
    --policy) COMPREPLY=($(compgen -W "${presetNames.join(' ')}" -- "$word")); return ;;
    -f|--fragment|-a|--attach|--db|--config) COMPREPLY=($(compgen -f -- "$word")); return ;;
  esac
  if [[ "$word" == -* ]]; then COMPREPLY=($(compgen -W "${words.join(' ')}" -- "$word"))
  elif [[ $COMP_CWORD == 1 ]]; then COMPREPLY=($(compgen -W "${Object.keys(commands).join(' ')}" -- "$word"))
  else COMPREPLY=($(compgen -f -- "$word")); fi
}
complete -o filenames -F _synapse synapse
`
}

function zsh(): string {
  const named = Object.entries(commands).map(([name, { about }]) => `    '${name}:${quoted(about)}'`)
  const options = flags().flatMap(({ long, short }) => [...(short ? [short] : []), long])
  return `#compdef synapse
_synapse() {
  local -a commands models
  commands=(
${named.join('\n')}
  )
  case "\${words[CURRENT-1]}" in
    -m|--model|--for|--to) models=(\${(f)"$(synapse completion models 2>/dev/null)"}); compadd -a models; return ;;
    -o|--option) compadd -S '' ${optionNames()
      .map((name) => `${name}=`)
      .join(' ')}; return ;;
    --policy) compadd ${presetNames.join(' ')}; return ;;
    -f|--fragment|-a|--attach|--db|--config) _files; return ;;
  esac
  if [[ "\${words[CURRENT]}" == -* ]]; then compadd -- ${options.join(' ')}
  elif (( CURRENT == 2 )); then _describe 'command' commands
  else _files; fi
}
compdef _synapse synapse
`
}

function fish(): string {
  const named = Object.entries(commands).map(
    ([name, { about }]) => `complete -c synapse -n __fish_use_subcommand -f -a ${name} -d '${quoted(about)}'`,
  )
  const options = flags().map(({ long, short }) => {
    const takes = fishArguments[long.slice(2)]
    return `complete -c synapse${short ? ` -s ${short.slice(1)}` : ''} -l ${long.slice(2)}${takes ? ` ${takes}` : ''}`
  })
  return `${[...named, ...options].join('\n')}\n`
}

const fishArguments: Record<string, string> = {
  model: `-x -a '(synapse completion models)'`,
  option: `-x -a '${optionNames()
    .map((name) => `${name}=`)
    .join(' ')}'`,
  policy: `-x -a '${presetNames.join(' ')}'`,
  fragment: '-r',
  attach: '-r',
  db: '-r',
  config: '-r',
}

function quoted(text: string): string {
  return text.replaceAll(/['\\:]/g, ' ')
}
