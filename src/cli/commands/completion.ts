/** `codesign-remote completion`: the script that makes a shell complete this program's commands and options. */

import type { Command } from 'commander';
import { type CommandShape, describeCommand } from '../command-tree.ts';
import { bashCompletion } from '../completion/bash.ts';
import { fishCompletion } from '../completion/fish.ts';
import { powershellCompletion } from '../completion/powershell.ts';
import type { Shell } from '../completion/shells.ts';
import { zshCompletion } from '../completion/zsh.ts';
import type { Io } from '../io.ts';

const SCRIPTS: Readonly<Record<Shell, (program: CommandShape) => string>> = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
  powershell: powershellCompletion,
};

export async function completion(shell: Shell, program: Command, io: Io): Promise<number> {
  io.stdout.write(SCRIPTS[shell](describeCommand(program)));
  return 0;
}
