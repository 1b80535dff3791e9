/** A program on its own terminal, with typed input: what it prints, and the state of the terminal afterwards. */

import { spawn } from 'node:child_process';
import { watchCredentials, watchRun } from '../credential-watch.ts';

export interface TerminalStep {
  /** What is waited for, in what came since the step before. */
  readonly expect: string;
  /** What is typed then. */
  readonly send: string;
}

export interface TerminalRun {
  /** Null when a signal ended it. */
  readonly code: number | null;
  /** Everything that stood on the screen. */
  readonly output: string;
  /** Whether the terminal echoes and edits lines again, as a shell wants to find it. */
  readonly isRestored: boolean;
}

/** Python has pseudo-terminals in its standard library; Node has none. */
const DRIVER = `
import json, os, pty, select, sys, termios, time
task = json.load(sys.stdin)
pid, master = pty.fork()
if pid == 0:
    os.execvpe(task['argv'][0], task['argv'], task['env'])
output, seen, deadline = b'', 0, time.time() + task['seconds']
def read(until):
    global output
    ready, _, _ = select.select([master], [], [], until)
    if not ready: return True
    try: data = os.read(master, 65536)
    except OSError: return False
    output += data
    return len(data) > 0
for step in task['steps']:
    expected = step['expect'].encode()
    while expected not in output[seen:]:
        if time.time() > deadline or not read(0.2):
            break
    if expected not in output[seen:]:
        break
    seen = output.index(expected, seen) + len(expected)
    os.write(master, step['send'].encode())
code = None
while code is None and time.time() < deadline:
    read(0.05)
    done, status = os.waitpid(pid, os.WNOHANG)
    if done: code = os.waitstatus_to_exitcode(status)
if code is None:
    os.kill(pid, 9)
    os.waitpid(pid, 0)
lflag = termios.tcgetattr(master)[3]
while read(0.1) and select.select([master], [], [], 0)[0]: pass
restored = bool(lflag & termios.ECHO) and bool(lflag & termios.ICANON)
print(json.dumps({'code': code, 'output': output.decode('utf8', 'replace'), 'isRestored': restored}))
`;

/** Runs it to its end; a step whose words do not come is the last one. Throws when it gave credentials away. */
export async function runOnTerminal(
  argv: readonly string[],
  env: Readonly<Record<string, string>>,
  steps: readonly TerminalStep[],
): Promise<TerminalRun> {
  const typed = steps.filter(({ expect }) => /secret/i.test(expect)).map(({ send }) => send.replace(/[\r\n]+$/, ''));
  for (const accessSecret of typed) watchCredentials({ accessKey: '', accessSecret });
  const search = watchRun({ env, args: argv });
  const child = spawn('python3', ['-c', DRIVER], { stdio: ['pipe', 'pipe', 'pipe'] });
  let output = '';
  let errors = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  child.stdin.end(JSON.stringify({ argv, env, steps, seconds: 25 }));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', (error) => reject(new Error('python3 is needed: apt-get install python3', { cause: error })));
    child.once('close', resolve);
  });
  if (code !== 0) throw new Error(`the terminal's driver failed: ${errors}`);
  const run = JSON.parse(output) as TerminalRun;
  await search({ 'the terminal': run.output });
  return { ...run, code: run.code !== null && run.code < 0 ? null : run.code };
}
