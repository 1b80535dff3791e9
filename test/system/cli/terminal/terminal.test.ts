/** The live line on a pseudo-terminal: what it says, and that nothing of it stays, whichever way the run ends. */

import { copyFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { asSoonAs } from '../../../support/children.ts';
import { CLI_PROGRAM, fixture } from '../../../support/programs/cli.ts';
import { type PtyOptions, type PtyRun, runOnPty } from '../../../support/programs/pty.ts';
import { startScene } from '../../../support/runs/resume-scene.ts';
import { forAll } from '../../../support/set-up.ts';

const ESCAPE = '\x1b';
const COLOUR = `${ESCAPE}[3`;
/** The cursor's column, the rest of the line erased, the cursor hidden. */
const LIVE = [`${ESCAPE}[1G`, `${ESCAPE}[0K`];
const HIDDEN_CURSOR = `${ESCAPE}[?25l`;
const WAITING = 'waiting for the service';

const stage = await forAll(startScene('hangs'));
let files = 0;

/** Signs app.exe with a service that never answers: until the time-out, there is something to show. */
async function sign(args: readonly string[], options: Partial<PtyOptions> = {}): Promise<PtyRun> {
  const env = { ...stage.env, ...options.env };
  files += 1;
  const cwd = join(stage.folder, `${files}`);
  await mkdir(cwd);
  await copyFile(fixture('pe/hello.exe'), join(cwd, 'app.exe'));
  const all = ['sign', '--no-timestamp', '--no-journal', '--timeout', '1', ...args, 'app.exe'];
  return runOnPty(all, { columns: 80, cwd, ...options, env });
}

describe.concurrent('the live line', () => {
  it('shows the current work, and disappears at the end', async () => {
    const { code, output, screen } = await sign([]);
    expect(code).toBe(3);
    expect(output).toContain(`app.exe ${WAITING}`);
    expect(output).toContain(LIVE[0]);
    expect(screen).not.toContain(WAITING);
    expect(screen).toMatch(/^\{red\}failed\{\/\} {3}app\.exe: /m);
    expect(output).not.toContain(HIDDEN_CURSOR);
  });

  it('disappears when the terminal loses its columns, and returns with them', async () => {
    let isResized = false;
    let [shown, before] = [0, 0];
    const { code, output } = await sign(['--timeout', '3'], {
      onOutput(text, hand) {
        shown = text.length;
        if (isResized || !text.includes(WAITING)) return;
        isResized = true;
        hand.resize(0);
        const enlarge = () => {
          before = shown;
          hand.resize(60);
        };
        setTimeout(enlarge, 300);
      },
    });
    expect(code).toBe(3);
    expect(output.slice(before)).toContain(WAITING);
  });

  it('is in ASCII unless Unicode is known to work, and has no colour if that is not wanted', async () => {
    const { output } = await sign([], { env: { LANG: 'C', NO_COLOR: '1', FORCE_COLOR: '1' } });
    expect(output).toContain(WAITING);
    expect(output.replaceAll(ESCAPE, '')).toMatch(/^[\r\n -~]*$/);
    expect(output).not.toContain(COLOUR);
  });

  it('is gone when a second interrupt ends the run', async () => {
    // Of its own: a first interrupt before the request is sent ends the run.
    await using scene = await startScene('hangs');
    let isInterrupted = false;
    const { code, output, screen } = await sign(['--timeout', '20'], {
      env: scene.env,
      onOutput(text, hand) {
        if (isInterrupted || !text.includes(WAITING)) return;
        isInterrupted = true;
        const interruptTwice = () => {
          hand.type('\x03');
          setTimeout(() => hand.type('\x03'), 1300);
        };
        asSoonAs(() => scene.service.signRequests() > 0, interruptTwice);
      },
    });
    expect(code).toBe(130);
    expect(output.match(/\^C/g)).toHaveLength(2);
    expect(screen).toContain('interrupted: waiting for requested signatures only');
    expect(screen).not.toContain(WAITING);
  });

  it('consumes nothing that is typed meanwhile', async () => {
    const shell = `${process.execPath} ${CLI_PROGRAM} "$@"; read answer; echo "read: $answer"`;
    let isTyped = false;
    const { screen } = await sign([], {
      command: ['sh', '-c', shell, 'sh'],
      onOutput(text, hand) {
        if (isTyped || !text.includes(WAITING)) return;
        isTyped = true;
        hand.type('typed ahead\n');
      },
    });
    expect(screen).toContain('read: typed ahead');
  });
});
