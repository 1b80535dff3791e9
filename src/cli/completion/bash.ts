/** Completion for bash 4 and later: a function that looks at the command and the word before. */

import { type CommandShape, type OptionShape, PROFILES_COMMAND, type Value } from './describe.ts';

export function bashCompletion(program: CommandShape): string {
  const branches = casesOf(program, []);
  return `# bash completion for ${program.name}
_codesign_remote() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} path='' index=1 word
  # --option=value comes as three words.
  if [[ $cur == '=' ]]; then cur=''; elif [[ $prev == '=' ]]; then prev=\${COMP_WORDS[COMP_CWORD-2]}; fi
  COMPREPLY=()
  while ((index < COMP_CWORD && index <= 2)); do
    word=\${COMP_WORDS[index]}
    [[ $word == -* ]] && break
    case "$path $word" in
${namesOf(program, [])
  .map((names) => `      '${` ${names.join(' ')}`}') path=' ${names.join(' ')}' ;;`)
  .join('\n')}
      *) break ;;
    esac
    ((index++))
  done
  case "$path" in
${branches}
  esac
}
complete -o default -F _codesign_remote ${program.name}
`;
}

/** The ways to every command below. */
function namesOf(command: CommandShape, above: readonly string[]): readonly (readonly string[])[] {
  return command.commands.flatMap((below) => {
    const names = [...above, below.name];
    return [names, ...namesOf(below, names)];
  });
}

function casesOf(command: CommandShape, names: readonly string[]): string {
  const own = `    '${names.map((name) => ` ${name}`).join('')}')
      case "$prev" in
${command.options.flatMap(valueCase).join('\n')}
        *)
          if [[ $cur == -* ]]; then COMPREPLY=($(compgen -W '${command.options.flatMap(({ flags }) => flags).join(' ')}' -- "$cur"))
          ${othersOf(command)}
      esac
      ;;`;
  return [own, ...command.commands.map((below) => casesOf(below, [...names, below.name]))].join('\n');
}

function valueCase({ flags, value }: OptionShape): readonly string[] {
  return value === undefined ? [] : [`        ${flags.join(' | ')}) ${suggestion(value)} ;;`];
}

function othersOf({ commands, arguments: taken }: CommandShape): string {
  const value = commands.length > 0 ? commands.map(({ name }) => name) : taken[0]?.value;
  return `else ${suggestion(value ?? 'nothing')}; fi`;
}

/** Paths are what readline does by itself when there is no other reply. */
function suggestion(value: Value): string {
  if (value === 'paths') return ':';
  if (value === 'nothing') return 'compopt +o default';
  const words = value === 'profiles' ? `"$(${PROFILES_COMMAND})"` : `'${value.join(' ')}'`;
  return `compopt +o default; COMPREPLY=($(compgen -W ${words} -- "$cur"))`;
}
