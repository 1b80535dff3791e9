/** Completion for zsh: a function of `_arguments` for every command. */

import { type CommandShape, type OptionShape, PROFILES_COMMAND, type Value } from './describe.ts';

export function zshCompletion(program: CommandShape): string {
  return `#compdef ${program.name}
# zsh completion for ${program.name}
_codesign_remote_profiles() { compadd -- \${(f)"$(${PROFILES_COMMAND})"} }
${functionsOf(program, '_codesign_remote')}
# In a folder of fpath the file is the function _${program.name}.
if [ "$funcstack[1]" = "_${program.name}" ]; then
  _codesign_remote "$@"
else
  compdef _codesign_remote ${program.name}
fi
`;
}

function functionsOf(command: CommandShape, name: string): string {
  const below = command.commands.map((one) => functionsOf(one, functionName(name, one)));
  const own = command.commands.length > 0 ? withCommands(command, name) : withArguments(command, name);
  return [own, ...below].join('\n');
}

function functionName(above: string, { name }: CommandShape): string {
  return `${above}_${name.replaceAll('-', '_')}`;
}

function withCommands(command: CommandShape, name: string): string {
  const described = command.commands.map((below) => quoted(`${below.name}:${below.description}`));
  const cases = command.commands.map((below) => `      ${below.name}) ${functionName(name, below)} ;;`);
  return `${name}() {
  local context state state_descr line
  typeset -A opt_args
  _arguments -C \\
    ${[...command.options.map(optionSpec), "'1: :->command'", "'*:: :->rest'"].join(' \\\n    ')}
  case $state in
    command)
      local -a commands=(
        ${described.join('\n        ')}
      )
      _describe -t commands command commands
      ;;
    rest)
      case $line[1] in
${cases.map((line) => `  ${line}`).join('\n')}
      esac
      ;;
  esac
}`;
}

function withArguments(command: CommandShape, name: string): string {
  const taken = command.arguments.map((argument, index) => {
    const place = argument.isRepeatable ? '*' : String(index + 1);
    return quoted(`${place}:${escaped(argument.name)}:${action(argument.value)}`);
  });
  return `${name}() {
  _arguments -s \\
    ${[...command.options.map(optionSpec), ...taken].join(' \\\n    ')}
}`;
}

/** `(-h --help)'{-h,--help}'[text]`: either flag, once. */
function optionSpec({ flags, description, placeholder, value, isRepeatable }: OptionShape): string {
  const excluded = isRepeatable ? '*' : `(${flags.join(' ')})`;
  const takes = value === undefined ? '' : `:${escaped(`<${placeholder ?? ''}>`)}:${action(value)}`;
  const text = quoted(`[${escaped(description)}]${takes}`);
  const written = flags.map((flag) => (value !== undefined && flag.startsWith('--') ? `${flag}=` : flag));
  return `${quoted(excluded)}${written.length > 1 ? `{${written.join(',')}}` : written.join('')}${text}`;
}

function action(value: Value): string {
  if (typeof value === 'object') return `(${value.join(' ')})`;
  return { profiles: '_codesign_remote_profiles', paths: '_files', nothing: ' ' }[value];
}

/** For the inside of a spec, where brackets and colons mean something. */
function escaped(text: string): string {
  return text.replace(/[\\[\]:]/g, '\\$&');
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
