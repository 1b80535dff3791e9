/** The options of `codesign-remote completion`. */

import { Argument, type Command } from 'commander';
import { SHELLS, type Shell } from '../completion/shells.ts';
import type { Run } from './run.ts';

export function defineCompletion(program: Command, run: Run): void {
  program
    .command('completion')
    .description('print the script that completes commands and options in a shell')
    .addArgument(new Argument('<shell>', 'the shell that shall read it').choices(SHELLS))
    .addHelpText('after', EXAMPLES)
    .exitOverride()
    .action((shell: Shell) =>
      run(async (io) => {
        const { completion } = await import('../commands/completion.ts');
        return completion(shell, program, io);
      }),
    );
}

const EXAMPLES = `
Examples:
  bash         codesign-remote completion bash > ~/.local/share/bash-completion/completions/codesign-remote
  zsh          codesign-remote completion zsh > "\${fpath[1]}/_codesign-remote"
  fish         codesign-remote completion fish > ~/.config/fish/completions/codesign-remote.fish
  PowerShell   codesign-remote completion powershell | Out-String | Invoke-Expression   (in $PROFILE)`;
