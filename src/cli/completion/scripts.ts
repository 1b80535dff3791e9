/** The scripts call `codesign-remote complete` when Tab is pressed, so they contain no list of commands or options. */

import type { Io } from '../io.ts';

const BASH = `# bash completion for codesign-remote (bash 4 and later)
_codesign_remote() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do COMPREPLY+=("\${line%%$'\\t'*}"); done \\
    < <(codesign-remote complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  case \${COMPREPLY-} in
    :files) COMPREPLY=(); compopt -o default ;;
    *=) compopt -o nospace ;;
  esac
}
complete -F _codesign_remote codesign-remote
`;

const ZSH = `#compdef codesign-remote
# zsh completion for codesign-remote
_codesign_remote() {
  local -a lines=("\${(@f)$(codesign-remote complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  case $lines[1] in
    :files) _files ;;
    *=) compadd -S '' -a lines ;;
    *) lines=("\${(@)lines/$'\\t'/:}"); _describe candidates lines ;;
  esac
}
# In a folder of fpath, this file is the function _codesign-remote.
if [ "$funcstack[1]" = _codesign-remote ]; then _codesign_remote; else compdef _codesign_remote codesign-remote; fi
`;

const FISH = `# fish completion for codesign-remote
function __codesign_remote
  set -l words (commandline -opc) (commandline -ct)
  set -l lines (codesign-remote complete -- $words[2..-1] 2>/dev/null)
  if test "$lines[1]" = :files
    __fish_complete_path (commandline -ct)
  else
    printf '%s\\n' $lines
  end
end
complete -c codesign-remote -f -a '(__codesign_remote)'
`;

/** Windows PowerShell drops empty arguments, so `""` stands for an empty word on every system. */
const POWERSHELL = `# PowerShell completion for codesign-remote
Register-ArgumentCompleter -Native -CommandName codesign-remote -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $before = $commandAst.CommandElements | Select-Object -Skip 1 | Where-Object { $_.Extent.EndOffset -lt $cursorPosition }
  $words = @($before | ForEach-Object { "$_" }) + $(if ($wordToComplete) { $wordToComplete } else { '""' })
  codesign-remote complete -- @words 2>$null | Where-Object { $_ -ne ':files' } | ForEach-Object {
    $word, $help = $_ -split "\`t", 2
    [System.Management.Automation.CompletionResult]::new($word, $word, 'ParameterValue', $(if ($help) { $help } else { $word }))
  }
}
`;

const SCRIPTS = { bash: BASH, zsh: ZSH, fish: FISH, powershell: POWERSHELL };

export async function completion(shell: keyof typeof SCRIPTS, io: Io): Promise<number> {
  io.stdout.write(SCRIPTS[shell]);
  return 0;
}
