/** `codesign-remote completion`: the script that makes a shell complete this program's commands and options. */

import type { ProgramDefinition } from '../command.ts';
import { bashCompletion } from '../completion/bash.ts';
import { type CommandShape, describeProgram, type Shell } from '../completion/describe.ts';
import { fishCompletion } from '../completion/fish.ts';
import { powershellCompletion } from '../completion/powershell.ts';
import { zshCompletion } from '../completion/zsh.ts';
import type { Io } from '../io.ts';

const SCRIPTS: Readonly<Record<Shell, (program: CommandShape) => string>> = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
  powershell: powershellCompletion,
};

export async function completion(shell: Shell, program: ProgramDefinition, io: Io): Promise<number> {
  io.stdout.write(SCRIPTS[shell](describeProgram(program)));
  return 0;
}
