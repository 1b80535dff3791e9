/** How far a large file has been read, on a terminal and in a pipe. */

import { truncate } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { runCli } from '../../../support/programs/cli.ts';
import { runOnPty } from '../../../support/programs/pty.ts';
import { startScene } from '../../../support/runs/resume-scene.ts';

const READING = /app\.exe \d+ % of 400 MB/;

it('is shown in bytes on a terminal, and not in a pipe', async () => {
  await using stage = await startScene('good');
  await truncate(stage.path, 400_000_000);
  const { env } = stage;
  const signed = await runOnPty(['sign', '--no-timestamp', stage.path], { columns: 80, env });
  expect(signed.output).toMatch(READING);
  expect(signed.screen).not.toMatch(READING);
  expect(signed.code).toBe(0);

  for (const args of [['verify', '--integrity-only'], ['inspect']]) {
    const { code, output, screen } = await runOnPty([...args, stage.path], { columns: 80 });
    expect(output).toMatch(READING);
    expect(screen).not.toMatch(READING);
    expect(code).toBe(0);
    let isInterrupted = false;
    const interrupted = await runOnPty([...args, stage.path], {
      columns: 80,
      onOutput(text, hand) {
        if (!isInterrupted && READING.test(text)) hand.type('\x03');
        isInterrupted ||= READING.test(text);
      },
    });
    expect(interrupted.code).toBe(130);
    expect(interrupted.screen).not.toMatch(READING);
    const piped = await runCli([...args, stage.path]);
    expect(piped.stdout + piped.stderr).not.toMatch(READING);
  }
}, 180_000);
