/** Questions on a terminal: the only code that prompts the user and shows or hides the typed text. */

import { StringDecoder } from 'node:string_decoder';
import { CodesignError } from '../../errors/codesign-error.ts';
import { EXIT_SIGINT } from '../../errors/exit-codes.ts';
import { printable } from '../../errors/printable.ts';
import { Secret } from '../../secrets/secret.ts';
import { cliErrors } from '../errors.ts';
import type { Io } from '../io.ts';
import { LineEditor } from './line-editor.ts';

export interface Question<Answer> {
  /** Used for an empty answer; shown in brackets. */
  readonly defaultAnswer?: string | undefined;
  /** Checks the answer. A CodesignError that it throws is printed, and the question asked again. */
  readonly accept: (answer: string) => Answer;
}

/** Prompts on standard error: standard output is for the result. Each function throws `no-answer` when the input ends. */
export interface Ask extends Disposable {
  text<Answer>(question: string, options: Question<Answer>): Promise<Answer>;
  /** Without echo. `accept` may throw as for a text. */
  secret(question: string, accept?: (answer: string) => void): Promise<Secret>;
  confirm(question: string, defaultAnswer: boolean): Promise<boolean>;
}

interface TerminalInput {
  readonly isTTY: true;
  setRawMode(isRaw: boolean): unknown;
}

/** Whether there is a terminal to ask on. */
export function canAsk({ stdin, stderr }: Io): boolean {
  return isTerminalInput(stdin) && 'isTTY' in stderr && stderr.isTTY === true;
}

/**
 * Switches the terminal to raw mode until it is disposed. Ctrl-C restores the terminal too, and ends the process. Nothing else
 * echoes input between the first question and the last, so several answers pasted together do not show a secret.
 * `instead`: what to do without a terminal. Throws `no-terminal`.
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
  const editor = new LineEditor(write, () => {
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
      write(prompt);
      const answer = await editor.line(isHidden);
      if (answer === undefined) throw cliErrors('no-answer', { question: prompt.replace(/[ :?]*$/, '') });
      try {
        return accept(answer);
      } catch (thrown) {
        if (!(thrown instanceof CodesignError)) throw thrown;
        write(`${printable(thrown.message)}\n`);
      }
    }
  }

  return {
    text(question, { defaultAnswer, accept }) {
      const prompt = defaultAnswer === undefined ? `${question}: ` : `${question} [${printable(defaultAnswer)}]: `;
      // Pasted text often has spaces around it.
      return ask(prompt, false, (answer) => accept(answer.trim() || (defaultAnswer ?? '')));
    },
    async secret(question, accept = () => undefined) {
      return ask(`${question} (not shown): `, true, (answer) => {
        accept(answer);
        return new Secret(answer);
      });
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
