/** Questions on a terminal: the one place that asks a user, shows what is typed, or hides it. */

import { StringDecoder } from 'node:string_decoder';
import { CodesignError } from '../../errors/codesign-error.ts';
import { EXIT_SIGINT } from '../../errors/exit-codes.ts';
import { printable } from '../../errors/printable.ts';
import { Secret } from '../../secrets/secret.ts';
import { cliErrors } from '../errors.ts';
import type { Io } from '../io.ts';
import { LineEditor } from './line-editor.ts';

export interface Question<Answer> {
  /** What an empty answer stands for; shown in brackets. */
  readonly otherwise?: string | undefined;
  /** Judges the answer; a CodesignError that it throws is shown, and the question asked again. */
  readonly accept: (answer: string) => Answer;
}

/** Asks on standard error, so that standard output stays free for the result. Each throws `no-answer` when the input ends. */
export interface Ask extends Disposable {
  text<Answer>(question: string, manner: Question<Answer>): Promise<Answer>;
  /** Without echo. `accept` may throw as for a text. */
  secret(question: string, accept?: (answer: string) => void): Promise<Secret>;
  /** `otherwise`: what an empty answer means. */
  confirm(question: string, otherwise: boolean): Promise<boolean>;
}

/** Standard input, where it is a terminal. */
interface TerminalInput {
  readonly isTTY: true;
  setRawMode(isRaw: boolean): unknown;
}

/** Whether somebody sits there who can be asked. */
export function canAsk({ stdin, stderr }: Io): boolean {
  return isTerminalInput(stdin) && 'isTTY' in stderr && stderr.isTTY === true;
}

/**
 * Takes the terminal until it is disposed of, which gives it back as it was; so does Ctrl-C, which ends the process. From
 * the first question to the last nothing is echoed but by this: who pastes several answers at once shows no secret.
 * `instead`: a sentence for those who cannot be asked. Throws `no-terminal`.
 */
export function openAsk(io: Io, instead: string): Ask {
  const { stdin } = io;
  if (!canAsk(io) || !isTerminalInput(stdin)) throw cliErrors('no-terminal', { instead });
  const terminal = stdin;
  const write = (text: string): void => {
    io.stderr.write(text);
  };
  const giveBack = (): void => {
    stdin.off('data', hear).off('end', end).pause();
    terminal.setRawMode(false);
  };
  const editor = new LineEditor(write, () => {
    giveBack();
    write('\n');
    io.exit(EXIT_SIGINT);
  });
  const decoder = new StringDecoder('utf8');
  const hear = (chunk: Buffer | string): void => editor.hear(typeof chunk === 'string' ? chunk : decoder.write(chunk));
  const end = (): void => editor.end();

  terminal.setRawMode(true);
  stdin.on('data', hear).on('end', end).resume();

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
    text(question, { otherwise, accept }) {
      const prompt = otherwise === undefined ? `${question}: ` : `${question} [${printable(otherwise)}]: `;
      // Blanks around it come with pasting.
      return ask(prompt, false, (answer) => accept(answer.trim() || (otherwise ?? '')));
    },
    async secret(question, accept = () => undefined) {
      return ask(`${question} (not shown): `, true, (answer) => {
        accept(answer);
        return new Secret(answer);
      });
    },
    confirm(question, otherwise) {
      return ask(`${question} [${otherwise ? 'Y/n' : 'y/N'}] `, false, (answer) => readConsent(answer, otherwise));
    },
    [Symbol.dispose]: giveBack,
  };
}

function readConsent(answer: string, otherwise: boolean): boolean {
  const word = answer.trim().toLowerCase();
  if (word === '') return otherwise;
  if (word === 'y' || word === 'yes') return true;
  if (word === 'n' || word === 'no') return false;
  throw cliErrors('answer-unclear');
}

function isTerminalInput(stream: object): stream is TerminalInput {
  return 'isTTY' in stream && stream.isTTY === true && 'setRawMode' in stream;
}
