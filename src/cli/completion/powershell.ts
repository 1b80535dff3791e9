/** Completion for PowerShell 5.1 and later: a table of the commands, and a block that looks into it. */

import type { CommandShape } from './describe.ts';

export function powershellCompletion(program: CommandShape): string {
  return `# PowerShell completion for ${program.name}
Register-ArgumentCompleter -Native -CommandName ${quoted(program.name)} -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $table = @{
${entriesOf(program, []).join('\n')}
  }
  $words = @($commandAst.CommandElements | Select-Object -Skip 1 |
    Where-Object { $_.Extent.EndOffset -lt $cursorPosition } | ForEach-Object { $_.ToString() })
  $path = ''
  foreach ($word in $words) {
    $next = ($path + ' ' + $word).Trim()
    if (-not $table.ContainsKey($next)) { break }
    $path = $next
  }
  $entry = $table[$path]
  $previous = if ($words.Count -gt 0) { $words[-1] } else { '' }
  if ($entry.Values.ContainsKey($previous)) {
    $values = $entry.Values[$previous]
    if ($values -is [scriptblock]) { $values = & $values }
    $values | Where-Object { $_ -like "$wordToComplete*" } | ForEach-Object {
      [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_)
    }
    return
  }
  $candidates = if ($wordToComplete -like '-*') { $entry.Options } else { $entry.Words }
  if ($candidates -is [scriptblock]) { $candidates = & $candidates }
  $candidates | Where-Object { $_[0] -like "$wordToComplete*" } | ForEach-Object {
    [System.Management.Automation.CompletionResult]::new($_[0], $_[0], 'ParameterName', $_[1])
  }
}
`;
}

/** In a block, so that it runs only when a name is completed. */
const PROFILES = 'codesign-remote config profiles 2>$null';

function entriesOf(command: CommandShape, names: readonly string[]): readonly string[] {
  const argument = command.arguments[0]?.value;
  const options = command.options.flatMap((option) => option.flags.map((flag) => pair(flag, option.description)));
  const words = [
    ...command.commands.map(({ name, description }) => pair(name, description)),
    ...(typeof argument === 'object' ? argument.map((word) => pair(word, word)) : []),
  ];
  const values = command.options.flatMap(({ flags, value }) => {
    if (value === undefined || value === 'paths' || value === 'nothing') return [];
    const offered = value === 'profiles' ? `{ ${PROFILES} }` : list(value.map(quoted));
    return flags.map((flag) => `${quoted(flag)} = ${offered}`);
  });
  const own = `    ${quoted(names.join(' '))} = @{
      Options = ${list(options)}
      Words = ${argument === 'profiles' ? `{ ${PROFILES} | ForEach-Object { ,@($_, $_) } }` : list(words)}
      Values = @{ ${values.join('; ')} }
    }`;
  return [own, ...command.commands.flatMap((below) => entriesOf(below, [...names, below.name]))];
}

/** The comma keeps a pair together where a list of one pair would be flattened. */
function pair(word: string, text: string): string {
  return `,@(${quoted(word)}, ${quoted(text || word)})`;
}

function list(items: readonly string[]): string {
  return `@(${items.join('; ')})`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
