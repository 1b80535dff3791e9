/** `--help` on terminals of all widths: no line that is wider, except for commands to be copied. */

import { describe, expect, it } from 'vitest';
import { runProgram } from '../../../../src/cli/program.ts';
import { played, playedIo } from '../../../support/played-io.ts';

/** `pagerColumns`: width of the terminal of standard error, where a pager shows standard output. */
async function help(args: readonly string[], columns: number | undefined, pagerColumns?: number): Promise<string> {
  const stdout = played(columns);
  const io = playedIo({ stdout, stderr: played(pagerColumns) });
  await runProgram([...args, '--help'], io);
  return String(stdout.read());
}

const widest = (text: string): number =>
  Math.max(...text.split('\n').map((line) => (/^ {2}(codesign-remote |.*[\\/]docs$)/.test(line) ? 0 : line.length)));

describe('help', () => {
  it.each([[[]], [['sign']], [['login']], [['config', 'set']]])('of %j fits into the terminal', async (args) => {
    for (const columns of [120, 100, 80, 60, 40]) {
      expect(widest(await help(args, columns)), `${columns} columns`).toBeLessThanOrEqual(Math.min(columns, 100));
    }
  });

  it('takes 80 columns without a terminal, or with one of unknown width', async () => {
    const text = await help(['sign'], undefined);
    expect(text).toBe(await help(['sign'], 80));
    expect(await help(['sign'], 0)).toBe(text);
  });

  it.each([120, 60])('takes the width of the terminal in a pager on %i columns', async (columns) => {
    expect(await help(['sign'], undefined, columns)).toBe(await help(['sign'], columns));
  });

  it('puts descriptions below their options if there is no space next to them', async () => {
    expect(await help(['sign'], 80)).toMatch(/^ {2}--recursive {2,}Process all/m);
    expect(await help(['sign'], 40)).toMatch(/^ {2}--recursive\n {6}Process all/m);
  });

  it('leaves examples in one line, to be copied', async () => {
    expect(await help(['sign'], 40)).toContain(
      '\n  codesign-remote sign --timestamp-url http://timestamp.example.com app.exe\n',
    );
  });
});
