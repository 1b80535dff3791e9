import type { ProgramDefinition } from '../command.ts';
import { errorCodes } from '../commands/explain.ts';
import type { Io } from '../io.ts';
import { bashCompletion } from './bash.ts';
import { type CommandShape, describeProgram, type Shell } from './describe.ts';
import { fishCompletion } from './fish.ts';
import { powershellCompletion } from './powershell.ts';
import { zshCompletion } from './zsh.ts';

const SCRIPTS: Readonly<Record<Shell, (program: CommandShape) => string>> = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
  powershell: powershellCompletion,
};

export async function completion(shell: Shell, program: ProgramDefinition, io: Io): Promise<number> {
  const shape = describeProgram(program);
  const codes = await errorCodes();
  const commands = shape.commands.map((command) =>
    command.name === 'explain'
      ? { ...command, arguments: command.arguments.map((one) => ({ ...one, value: codes })) }
      : command,
  );
  io.stdout.write(SCRIPTS[shell]({ ...shape, commands }));
  return 0;
}
