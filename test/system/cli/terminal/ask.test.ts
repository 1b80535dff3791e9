/** Questions on a terminal, with a terminal that is played: what keys do, what is echoed, and when it is given back. */

import { PassThrough } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { openAsk } from '../../../../src/cli/input/ask.ts';
import { settingsErrors } from '../../../../src/options/errors.ts';
import { played, playedIo } from '../../../support/played-io.ts';

function play() {
  const [typed, screen] = [new PassThrough(), played(80)];
  const terminal = { isRaw: false, shown: '' };
  screen.on('data', (text: string) => {
    terminal.shown += text;
  });
  const setRawMode = (isRaw: boolean) => void Object.assign(terminal, { isRaw });
  const io = playedIo({ stdin: Object.assign(typed, { isTTY: true, setRawMode }), stderr: screen });
  return { terminal, typed, ask: openAsk(io, '') };
}

const asItIs = { accept: (answer: string) => answer };
type Question = ReturnType<typeof openAsk>;

/** What comes of a question when this is typed, and what is on the screen then. */
async function answered<T>(keys: string | readonly Uint8Array[], question: (ask: Question) => Promise<T>) {
  const { terminal, typed, ask } = play();
  using asking = ask;
  const asked = question(asking);
  for (const key of keys) typed.write(key);
  return { answer: await asked, shown: terminal.shown };
}

describe('a question', () => {
  it.each([
    ['Enter', 'abc\r', 'abc'],
    ['a line feed', 'abc\n', 'abc'],
    ['Backspace', 'abx\x7fc\r', 'abc'],
    ['Backspace, as other terminals send it', 'abx\bc\r', 'abc'],
    ['Backspace over a character of two units', 'a😀\x7fbc\r', 'abc'],
    ['Backspace at the beginning', '\x7f\x7fabc\r', 'abc'],
    ['Ctrl-U', 'wrong\x15abc\r', 'abc'],
    ['Ctrl-D within a line', 'ab\x04c\r', 'abc'],
    ['arrow and function keys', '\x1b[Dab\x1bOP\x1b[1;5Cc\r', 'abc'],
    ['a paste, in brackets', '\x1b[200~abc\x1b[201~\r', 'abc'],
    ['spaces around it', '  abc \r', 'abc'],
    ['nothing, for which the default stands', '\r', 'nobody'],
  ])('is answered with %s', async (_name, keys, answer) => {
    const run = await answered([Buffer.from(keys)], (ask) => ask.text('Name', { ...asItIs, defaultAnswer: 'nobody' }));
    expect(run.answer).toBe(answer);
  });

  it('wraps at the width of the terminal, as its problems do', async () => {
    const accept = (answer: string) => {
      if (answer === 'b') return answer;
      throw settingsErrors('setting-missing', { what: 'word '.repeat(30), option: '', variable: '' });
    };
    const run = await answered('a\rb\r', (ask) => ask.text(`A ${'long '.repeat(30)}question`, { accept }));
    expect(run.answer).toBe('b');
    const lines = run.shown.split(/\r?\n/);
    expect(lines.length).toBeGreaterThan(6);
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
  });

  it('shows what is typed, and what is erased, in all columns of a wide character', async () => {
    const named = await answered('ax\x7fb\r', (ask) => ask.text('Name', { ...asItIs, defaultAnswer: 'nobody' }));
    expect(named.shown).toBe('Name [nobody]: ax\b \bb\n');
    const wide = await answered('文a\x7f\x7fb\r', (ask) => ask.text('Name', asItIs));
    expect(wide).toEqual({ answer: 'b', shown: `Name: 文a${'\b \b'.repeat(3)}b\n` });
  });

  it('is asked again, with the reason, until the answer is valid', async () => {
    const accept = (answer: string) => {
      if (answer === 'bad') throw settingsErrors('profile-name-invalid', { name: '\x1b[31m' });
      return answer.length;
    };
    const run = await answered('bad\rgood\r', (ask) => ask.text('Name', { accept }));
    expect(run.answer).toBe(4);
    expect(run.shown).toContain('is not a valid profile');
    expect(run.shown).not.toContain('\x1b');
  });

  it.each([
    ['y', true],
    ['YES', true],
    ['n', false],
    ['', false],
    ['maybe\rno', false],
  ])('of consent is answered with "%s"', async (keys, consent) => {
    const run = await answered(`${keys}\r`, (ask) => ask.confirm('Sure?', false));
    expect(run.answer).toBe(consent);
    expect(run.shown.includes('please answer y or n')).toBe(keys.startsWith('maybe'));
  });

  it('without an answer fails', async () => {
    const { typed, ask } = play();
    using asking = ask;
    const asked = asking.text('Name', asItIs);
    typed.end();
    await expect(asked).rejects.toMatchObject({ code: 'no-answer', category: 'usage' });
  });
});

describe('a secret', () => {
  it('is not shown, however it is typed, even if it is typed before its question', async () => {
    const { answer, shown } = await answered([Buffer.from('somebody\rs3cx\x7fret ü\r')], async (ask) => {
      await ask.text('Name', asItIs);
      await turn();
      return ask.secret('Secret');
    });
    expect(answer.reveal()).toBe('s3cret ü');
    expect(shown).toBe('Name: somebody\nSecret (not shown): \n');
  });

  it.each([
    ['keeps spaces and control characters, for the caller to check', ' a\tb '],
    ['arrives completely in pieces, even if they split a character', 's€😀'],
  ])('%s', async (_, secret) => {
    const pieces = Array.from(Buffer.from(`${secret}\r`), (byte) => Uint8Array.of(byte));
    const { answer } = await answered(pieces, (ask) => ask.secret('Secret'));
    expect(answer.reveal()).toBe(secret);
  });
});

it('the terminal is restored after the last question, and before Ctrl-C ends the process', () => {
  const { terminal, ask } = play();
  expect(terminal.isRaw).toBe(true);
  ask[Symbol.dispose]();
  expect(terminal.isRaw).toBe(false);

  const other = play();
  expect(() => other.typed.emit('data', Buffer.from('abc\x03'))).toThrow('the process ended with 130');
  expect(other.terminal.isRaw).toBe(false);
});
