/** One shell that runs the steps of all sessions: to start a process takes long from one that has as much memory as that of the tests. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';

export interface Shell extends AsyncDisposable {
  /** Runs one command after the other, each in a subshell, with these variables next to those of this process. */
  run(command: string, cwd: string, env: Readonly<Record<string, string>>): Promise<Result>;
}

interface Result {
  readonly status: number;
  readonly stdout: string;
}

const END = 'end of the step:';

export function openShell(): Shell {
  const child = spawn('sh', { stdio: ['pipe', 'pipe', 'ignore'] });
  const exit = once(child, 'exit');
  child.stdout.setEncoding('utf8');
  let last: Promise<unknown> = Promise.resolve();
  const runNext = (line: string): Promise<Result> =>
    new Promise((resolve) => {
      let printed = '';
      const hear = (text: string): void => {
        printed += text;
        const at = printed.lastIndexOf(`\n${END} `);
        if (at < 0 || !printed.endsWith('.\n')) return;
        child.stdout.off('data', hear);
        resolve({ status: Number.parseInt(printed.slice(at + END.length + 2), 10), stdout: printed.slice(0, at) });
      };
      child.stdout.on('data', hear);
      child.stdin.write(`${line}\nprintf '\\n%s %s.\\n' '${END}' "$?"\n`);
    });
  return {
    run(command, cwd, env) {
      const exports = Object.entries(env).map(([name, value]) => `export ${name}=${quoted(value)}`);
      const line = ['(', `cd ${quoted(cwd)}`, ...exports, `eval ${quoted(command)}`, ') < /dev/null'].join('\n');
      const result = last.then(() => runNext(line));
      last = result;
      return result;
    },
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      await exit;
    },
  };
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
