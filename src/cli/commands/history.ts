/** Prints each call as it is read: all calls of a journal may not fit into memory. */

import type { Writable } from 'node:stream';
import { composeHistory } from '../../app/compose-history.ts';
import type { OptionsOf } from '../../options/table.ts';
import { cliErrors } from '../errors.ts';
import type { Io } from '../io.ts';
import { addToSums, type HistoryForm, historyJson, historyTable, type Sums, sumsInOrder } from '../output/history.ts';
import { Lines } from '../output/lines.ts';
import { lineColumns } from '../output/terminal.ts';

const CHUNK_LENGTH = 64 * 1024;

export async function history(options: OptionsOf<'history'>, io: Io): Promise<number> {
  checkMonth(options.since);
  const form: HistoryForm = options.json ? historyJson : historyTable(lineColumns(io.stdout));
  using composition = await composeHistory(options, io.env);
  const { entries, warnings } = composition;
  const writer = bufferedWriter(io.stdout);
  const sums: Sums = new Map();
  let count = 0;
  for await (const entry of entries) {
    addToSums(sums, entry);
    await writer.write((count === 0 ? form.head : form.between) + form.entry(entry));
    count += 1;
    // `| head` closes the pipe early.
    if (!io.stdout.writable) return 0;
  }
  await writer.write(count === 0 ? form.empty : form.tail(sumsInOrder(sums)));
  await writer.end();
  const lines = new Lines(io, { json: true });
  for (const warning of warnings) lines.warning(warning);
  return 0;
}

function checkMonth(since: string | undefined): void {
  if (since === undefined || /^\d{4}-(0[1-9]|1[0-2])$/.test(since)) return;
  throw cliErrors('invalid-usage', {
    message: '--since is not a month such as 2026-11',
    help: 'codesign-remote history --help',
  });
}

function bufferedWriter(stream: Writable) {
  let waiting = '';

  async function flush(): Promise<void> {
    const text = waiting;
    waiting = '';
    if (text === '' || stream.write(text) || !stream.writable) return;
    // `drain` is never emitted for a closed pipe.
    await new Promise<void>((resolve) => {
      const events = ['drain', 'close', 'error'] as const;
      const done = (): void => {
        for (const event of events) stream.off(event, done);
        resolve();
      };
      for (const event of events) stream.once(event, done);
    });
  }

  return {
    async write(text: string): Promise<void> {
      waiting += text;
      if (waiting.length >= CHUNK_LENGTH) await flush();
    },
    end: flush,
  };
}
