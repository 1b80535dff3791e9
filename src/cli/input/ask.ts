import { StringDecoder } from 'node:string_decoder';
import { CodesignError } from '../../errors/codesign-error.ts';
import { EXIT_SIGINT } from '../../errors/exit-codes.ts';
import { printable } from '../../errors/printable.ts';
import { Secret } from '../../secrets/secret.ts';
import { cliErrors } from '../errors.ts';
import type { Io } from '../io.ts';
import { shown, writeLines } from '../output/lines.ts';
import { lineColumns } from '../output/terminal.ts';
import { widthOf, wrapped } from '../output/text-layout.ts';

export interface Question<Answer> {
  /** Used for an empty answer, and shown in brackets. */
  readonly defaultAnswer?: string | undefined;
  /** If the function throws a CodesignError, the error is printed and the question is asked again. */
  readonly accept: (answer: string) => Answer;
}

/** Prompts on standard error. All methods throw `no-answer` when the input ends. */
export interface Ask extends Disposable {
  text<Answer>(question: string, options: Question<Answer>): Promise<Answer>;
  /** Does not echo what the user types. */
  secret(question: string, accept?: (answer: string) => Secret): Promise<Secret>;
  confirm(question: string, defaultAnswer: boolean): Promise<boolean>;
}

interface TerminalInput {
  readonly isTTY: true;
  setRawMode(isRaw: boolean): unknown;
}

export function canAsk({ stdin, stderr }: Io): boolean {
  return isTerminalInput(stdin) && 'isTTY' in stderr && stderr.isTTY === true;
}

/**
 * Keeps the terminal in raw mode until disposed: otherwise the terminal would show a secret that is pasted together with
 * other answers. Ctrl-C restores the terminal and ends the process. `instead` is advice for a run without a terminal.
 */
export function openAsk(io: Io, instead: string): Ask {
  const { stdin } = io;
  if (!canAsk(io) || !isTerminalInput(stdin)) throw cliErrors('no-terminal', { instead });
  const terminal = stdin;
  const write = (text: string): void => {
    io.stderr.write(text);
  };
  const restore = (): void => {
    stdin.off('data', onData).off('end', end).pause();
    terminal.setRawMode(false);
  };
  const editor = lineEditor(write, () => {
    restore();
    write('\n');
    io.exit(EXIT_SIGINT);
  });
  const decoder = new StringDecoder('utf8');
  const onData = (chunk: Buffer | string): void =>
    editor.input(typeof chunk === 'string' ? chunk : decoder.write(chunk));
  const end = (): void => editor.end();

  terminal.setRawMode(true);
  stdin.on('data', onData).on('end', end).resume();

  async function ask<Answer>(prompt: string, isHidden: boolean, accept: (answer: string) => Answer): Promise<Answer> {
    for (;;) {
      write(`${wrapped(prompt.trimEnd(), lineColumns(io.stderr)).join('\n')} `);
      const answer = await editor.line(isHidden);
      if (answer === undefined) throw cliErrors('no-answer', { question: prompt.replace(/[ :?]*$/, '') });
      try {
        return accept(answer);
      } catch (thrown) {
        if (!(thrown instanceof CodesignError)) throw thrown;
        writeLines(io.stderr, [shown(thrown.message)], io);
      }
    }
  }

  return {
    text(question, { defaultAnswer, accept }) {
      const prompt = defaultAnswer === undefined ? `${question}: ` : `${question} [${printable(defaultAnswer)}]: `;
      // Pasted text often has spaces around the value.
      return ask(prompt, false, (answer) => accept(answer.trim() || (defaultAnswer ?? '')));
    },
    secret(question, accept = (answer) => new Secret(answer)) {
      return ask(`${question} (not shown): `, true, accept);
    },
    confirm(question, defaultAnswer) {
      const prompt = `${question} [${defaultAnswer ? 'Y/n' : 'y/N'}] `;
      return ask(prompt, false, (answer) => readConsent(answer, defaultAnswer));
    },
    [Symbol.dispose]: restore,
  };
}

function readConsent(answer: string, defaultAnswer: boolean): boolean {
  const word = answer.trim().toLowerCase();
  if (word === '') return defaultAnswer;
  if (word === 'y' || word === 'yes') return true;
  if (word === 'n' || word === 'no') return false;
  throw cliErrors('answer-unclear');
}

function isTerminalInput(stream: object): stream is TerminalInput {
  return 'isTTY' in stream && stream.isTTY === true && 'setRawMode' in stream;
}

const INTERRUPT = '\x03';
const END = '\x04';
const ERASE_LINE = '\x15';
const ESCAPE = '\x1b';
const ERASE = new Set(['\b', '\x7f']);

/** Escape sequences (ECMA-48, section 5.4) that the arrow keys send or that surround pasted text. They are dropped. */
const KEYS = new RegExp(`${ESCAPE}(?:\\[[0-?]*[ -/]*[@-~]|O[ -~])`, 'g');
const CONTROL = /\p{Cc}/u;

function lineEditor(echo: (text: string) => void, interrupt: () => void) {
  /** Text typed before the next question is echoed with that question, unless the answer is hidden. */
  let ahead = '';
  let typed: string[] = [];
  let asked: { readonly isHidden: boolean; readonly resolve: (line: string | undefined) => void } | undefined;
  let isAtEnd = false;

  function work(): void {
    const characters = [...ahead];
    let used = 0;
    for (const character of characters) {
      if (asked === undefined) break;
      used += 1;
      take(character, asked.isHidden);
    }
    ahead = characters.slice(used).join('');
    if (isAtEnd && asked !== undefined) answer(undefined);
  }

  function take(character: string, isHidden: boolean): void {
    if (character === '\r' || character === '\n') {
      answer(typed.join(''));
    } else if (character === END) {
      if (typed.length === 0) answer(undefined);
    } else if (ERASE.has(character)) {
      erase(1, isHidden);
    } else if (character === ERASE_LINE) {
      erase(typed.length, isHidden);
    } else {
      // Keeps control characters: dropping them would silently change a secret. The check of the answer rejects them.
      typed.push(character);
      if (!isHidden && !CONTROL.test(character)) echo(character);
    }
  }

  function erase(count: number, isHidden: boolean): void {
    const erased = typed.splice(Math.max(0, typed.length - count));
    const shown = erased.filter((character) => !CONTROL.test(character)).join('');
    if (!isHidden) echo('\b \b'.repeat(widthOf(shown)));
  }

  function answer(line: string | undefined): void {
    const resolve = asked?.resolve;
    typed = [];
    asked = undefined;
    echo('\n');
    resolve?.(line);
  }

  return {
    line(isHidden: boolean): Promise<string | undefined> {
      return new Promise((resolve) => {
        asked = { isHidden, resolve };
        work();
      });
    },
    input(text: string): void {
      if (text.includes(INTERRUPT)) {
        interrupt();
        return;
      }
      ahead = (ahead + text).replace(KEYS, '').replaceAll('\r\n', '\n');
      work();
    },
    end(): void {
      isAtEnd = true;
      work();
    },
  };
}
