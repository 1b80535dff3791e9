/** The built command line on a pseudo-terminal, which python3 opens: its bytes, and the text on its screen. */

import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { watchRun } from '../credential-watch.ts';
import { CLI_PROGRAM, REPOSITORY } from './cli.ts';
import { PYTHON } from './python.ts';
import { readScreen } from './terminal-screen.ts';

/** Else it sets LC_CTYPE where LANG says C, and all that it starts would see that. */
const PLAIN_PYTHON = { PYTHONCOERCECLOCALE: '0' };
const OPENER = join(REPOSITORY, 'test/support/programs/open-pty.py');

export interface PtyOptions {
  readonly columns: number;
  /** In addition to PATH and HOME; TERM and LANG are those of a usual terminal unless given. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Another command than the command line. */
  readonly command?: readonly string[];
  readonly onStart?: (terminal: PtyHand) => void;
  /** Called with what was printed so far; may react to it. */
  readonly onOutput?: (output: string, terminal: PtyHand) => void;
}

export interface PtyHand {
  type(text: string): void;
  resize(columns: number): void;
  signal(name: 'SIGINT' | 'SIGTERM' | 'SIGHUP' | 'SIGKILL'): void;
}

export type PtyRun = Awaited<ReturnType<typeof runOnPty>>;

/** Runs it to its end; standard input, output and error are the terminal. Throws when it gave credentials away. */
export async function runOnPty(args: readonly string[], options: PtyOptions) {
  const { columns, env = {}, cwd, command = [process.execPath, CLI_PROGRAM] } = options;
  const search = watchRun({ env, args, cwd });
  const child = spawn(PYTHON, [OPENER, `${columns}`, ...command, ...args], {
    cwd,
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      TERM: 'xterm-256color',
      LANG: 'C.UTF-8',
      ...PLAIN_PYTHON,
      ...env,
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const { stdin, stdout } = child;
  const hand: PtyHand = {
    type: (typed) => void stdin.write(typed),
    resize: (wanted) => void stdin.write(`\x01${wanted}\n`),
    signal: (name) => void stdin.write(`\x01${name}\n`),
  };
  options.onStart?.(hand);
  let output = '';
  stdin.on('error', () => undefined);
  stdout.setEncoding('utf8').on('data', (printed: string) => {
    output += printed;
    options.onOutput?.(output, hand);
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  await search({ 'the terminal': output });
  return {
    /** 128 and the signal's number when one ended it. */
    code,
    output,
    /** What stands on the screen in the end. */
    get screen() {
      const lines = readScreen(output, columns).map((line) => `${line}\n`);
      return lines.join('');
    },
  };
}
