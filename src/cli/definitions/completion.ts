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
A line for the shell's start-up file:
  ~/.bashrc                    eval "$(codesign-remote completion bash)"
  ~/.zshrc, after compinit     source <(codesign-remote completion zsh)
  ~/.config/fish/config.fish   codesign-remote completion fish | source
  $PROFILE of PowerShell       codesign-remote completion powershell | Out-String | Invoke-Expression`;
