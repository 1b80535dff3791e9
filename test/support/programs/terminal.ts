/** A program on its own terminal, with typed input: what it prints, and the state of the terminal afterwards. */

import { watchCredentials } from '../credential-watch.ts';
import { runOnPty } from './pty.ts';

export interface TerminalStep {
  /** What is waited for, in what came since the step before. */
  readonly expect: string;
  readonly send: string;
}

/** Runs it to its end; a step whose words do not come is the last one. Throws when it gave credentials away. */
export async function runOnTerminal(
  command: readonly string[],
  env: Readonly<Record<string, string>>,
  steps: readonly TerminalStep[],
) {
  const typed = steps.filter(({ expect }) => /secret/i.test(expect)).map(({ send }) => send.replace(/[\r\n]+$/, ''));
  for (const accessSecret of typed) watchCredentials({ accessKey: '', accessSecret });
  const left = [...steps];
  let seen = 0;
  return await runOnPty([], {
    columns: 80,
    env,
    command,
    onOutput(output, terminal) {
      for (let [step] = left; step !== undefined; [step] = left) {
        const at = output.indexOf(step.expect, seen);
        if (at < 0) return;
        seen = at + step.expect.length;
        left.shift();
        terminal.type(step.send);
      }
    },
  });
}
