/** The server's command line in the test's process. */

import { run } from '../../src/cli/program.ts';

export interface CommandResult {
  readonly code: number;
  readonly output: string;
  readonly errors: string;
  /** What a person at the terminal saw. */
  readonly shown: string;
}

/** Runs one administration command, at a terminal or not. */
export async function adminCommand(args: readonly string[], atTerminal = false): Promise<CommandResult> {
  let [output, errors, shown] = ['', '', ''];
  const code = await run(
    args,
    {
      environment: process.env,
      now: () => new Date(),
      announce: (line) => {
        output += `${line}\n`;
      },
      log: {
        write: (text) => {
          errors += text;
        },
      },
      terminal: atTerminal
        ? (text) => {
            shown += text;
          }
        : undefined,
    },
    async () => {},
  );
  return { code, output, errors, shown };
}
