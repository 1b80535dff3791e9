/** Questions on a terminal, with a terminal that is played: what keys do, what is echoed, and when it is given back. */

import { PassThrough } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { canAsk, openAsk } from '../../../../src/cli/input/ask.ts';
import type { Io } from '../../../../src/cli/io.ts';
import { settingsErrors } from '../../../../src/options/errors.ts';

interface Played {
  readonly io: Io;
  readonly typed: PassThrough;
  shown(): string;
  isRaw(): boolean;
  exitCode(): number | undefined;
}

function play({ isTerminal = true } = {}): Played {
  const typed = new PassThrough();
  const screen = new PassThrough();
  let isRaw = false;
  let exitCode: number | undefined;
  let shown = '';
  screen.setEncoding('utf8').on('data', (text: string) => {
    shown += text;
  });
  const setRawMode = (raw: boolean) => {
    isRaw = raw;
  };
  const io: Io = {
    stdin: Object.assign(typed, isTerminal ? { isTTY: true, setRawMode } : {}),
    stdout: new PassThrough(),
    stderr: Object.assign(screen, isTerminal ? { isTTY: true } : {}),
    env: {},
    clock: () => 0,
    onSignal: () => () => undefined,
    outputFault: () => undefined,
    onSuccess: () => undefined,
    exit(code) {
      exitCode = code;
      throw new Error('the process ended');
    },
  };
  return { io, typed, shown: () => shown, isRaw: () => isRaw, exitCode: () => exitCode };
}

const asItIs = { accept: (answer: string) => answer };

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
  ])('is answered with %s', async (_name, keys, answer) => {
    const { io, typed } = play();
    using ask = openAsk(io, '');
    const asked = ask.text('Name', asItIs);
    typed.write(keys);
    expect(await asked).toBe(answer);
  });

  it('wraps at the width of the terminal, as its problems do', async () => {
    const { io, typed, shown } = play();
    using ask = openAsk(io, '');
    const accept = (answer: string) => {
      if (answer !== 'b')
        throw settingsErrors('setting-missing', { what: 'word '.repeat(30), option: '', variable: '' });
      return answer;
    };
    const asked = ask.text(`A ${'long '.repeat(30)}question`, { accept });
    typed.write('a\rb\r');
    expect(await asked).toBe('b');
    const lines = shown().split(/\r?\n/);
    expect(lines.length).toBeGreaterThan(6);
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
  });

  it('shows what is typed, and what is erased', async () => {
    const { io, typed, shown } = play();
    using ask = openAsk(io, '');
    const asked = ask.text('Name', { ...asItIs, defaultAnswer: 'nobody' });
    typed.write('ax\x7fb\r');
    await asked;
    expect(shown()).toBe('Name [nobody]: ax\b \bb\n');
  });

  it('takes an empty answer for the offered one', async () => {
    const { io, typed } = play();
    using ask = openAsk(io, '');
    const asked = ask.text('Name', { ...asItIs, defaultAnswer: 'nobody' });
    typed.write('\r');
    expect(await asked).toBe('nobody');
  });

  it('is asked again, with the reason, until the answer is valid', async () => {
    const { io, typed, shown } = play();
    using ask = openAsk(io, '');
    const asked = ask.text('Name', {
      accept(answer) {
        if (answer === 'bad') throw settingsErrors('profile-name-invalid', { name: '\x1b[31m' });
        return answer.length;
      },
    });
    typed.write('bad\rgood\r');
    expect(await asked).toBe(4);
    expect(shown()).toContain('is not a valid name of a profile');
    expect(shown()).not.toContain('\x1b');
  });

  it.each([
    ['y', true],
    ['YES', true],
    ['n', false],
    ['', false],
    ['maybe\rno', false],
  ])('of consent is answered with "%s"', async (keys, consent) => {
    const { io, typed, shown } = play();
    using ask = openAsk(io, '');
    const asked = ask.confirm('Sure?', false);
    typed.write(`${keys}\r`);
    expect(await asked).toBe(consent);
    expect(shown().includes('please answer y or n')).toBe(keys.startsWith('maybe'));
  });

  it('erases all columns of a wide character', async () => {
    const { io, typed, shown } = play();
    using ask = openAsk(io, '');
    const asked = ask.text('Name', asItIs);
    typed.write('文a\x7f\x7fb\r');
    expect(await asked).toBe('b');
    expect(shown()).toBe(`Name: 文a${'\b \b'.repeat(3)}b\n`);
  });

  it('without an answer fails', async () => {
    const { io, typed } = play();
    using ask = openAsk(io, '');
    const asked = ask.text('Name', asItIs);
    typed.end();
    await expect(asked).rejects.toMatchObject({ code: 'no-answer', category: 'usage' });
  });
});

describe('a secret', () => {
  it('is not shown, however it is typed, even if it is typed before its question', async () => {
    const { io, typed, shown } = play();
    using ask = openAsk(io, '');
    const name = ask.text('Name', asItIs);
    typed.write('somebody\rs3cx\x7fret ü\r');
    await name;
    await turn();
    const secret = await ask.secret('Secret');
    expect(secret.reveal()).toBe('s3cret ü');
    expect(shown()).toBe('Name: somebody\nSecret (not shown): \n');
  });

  it('keeps spaces and control characters, for the caller to check', async () => {
    const { io, typed } = play();
    using ask = openAsk(io, '');
    const secret = ask.secret('Secret');
    typed.write(' a\tb \r');
    expect((await secret).reveal()).toBe(' a\tb ');
  });

  it('arrives completely in pieces, even if they split a character', async () => {
    const { io, typed } = play();
    using ask = openAsk(io, '');
    const secret = ask.secret('Secret');
    for (const byte of Buffer.from('s€😀\r')) typed.write(Uint8Array.of(byte));
    expect((await secret).reveal()).toBe('s€😀');
  });
});

describe('the terminal', () => {
  it('is restored after the last question', () => {
    const { io, isRaw } = play();
    const ask = openAsk(io, '');
    expect(isRaw()).toBe(true);
    ask[Symbol.dispose]();
    expect(isRaw()).toBe(false);
  });

  it('is restored before Ctrl-C ends the process', () => {
    const { io, typed, isRaw, exitCode } = play();
    openAsk(io, '');
    expect(() => typed.emit('data', Buffer.from('abc\x03'))).toThrow('the process ended');
    expect([isRaw(), exitCode()]).toEqual([false, 130]);
  });

  it('is required: without one, the error says what to do instead', () => {
    const { io } = play({ isTerminal: false });
    expect(canAsk(io)).toBe(false);
    expect(() => openAsk(io, 'Use options.')).toThrow(
      expect.objectContaining({ code: 'no-terminal', category: 'usage', hint: 'Use options.' }),
    );
  });
});
