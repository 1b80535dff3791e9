/** Line editing for a terminal in raw mode, where the system does not handle Backspace, Ctrl-C or the arrow keys. */

import { widthOf } from '../output/text-layout.ts';

const INTERRUPT = '\x03';
const END = '\x04';
const ERASE_LINE = '\x15';
const ESCAPE = '\x1b';
const ERASE = new Set(['\b', '\x7f']);

/** Sequences of ECMA-48, section 5.4, which arrow keys send and which surround pasted text. They are dropped. */
const KEYS = new RegExp(`${ESCAPE}(?:\\[[0-?]*[ -/]*[@-~]|O[ -~])`, 'g');
const CONTROL = /\p{Cc}/u;

interface Asked {
  readonly isHidden: boolean;
  readonly answer: (line: string | undefined) => void;
}

export class LineEditor {
  readonly #echo: (text: string) => void;
  readonly #interrupt: () => void;
  /** Typed before the next question: echoed with that question, unless the answer is hidden. */
  #ahead = '';
  #typed: string[] = [];
  #asked: Asked | undefined;
  #isAtEnd = false;

  constructor(echo: (text: string) => void, interrupt: () => void) {
    this.#echo = echo;
    this.#interrupt = interrupt;
  }

  /** The next line; undefined when the input ends. */
  line(isHidden: boolean): Promise<string | undefined> {
    return new Promise((resolve) => {
      this.#asked = { isHidden, answer: resolve };
      this.#work();
    });
  }

  input(text: string): void {
    if (text.includes(INTERRUPT)) {
      this.#interrupt();
    } else {
      this.#ahead = (this.#ahead + text).replace(KEYS, '').replaceAll('\r\n', '\n');
      this.#work();
    }
  }

  end(): void {
    this.#isAtEnd = true;
    this.#work();
  }

  #work(): void {
    const characters = [...this.#ahead];
    let used = 0;
    for (const character of characters) {
      if (this.#asked === undefined) break;
      used += 1;
      this.#take(character, this.#asked);
    }
    this.#ahead = characters.slice(used).join('');
    if (this.#isAtEnd && this.#asked !== undefined) this.#answer(this.#asked, undefined);
  }

  #take(character: string, asked: Asked): void {
    if (character === '\r' || character === '\n') {
      this.#answer(asked, this.#typed.join(''));
    } else if (character === END) {
      if (this.#typed.length === 0) this.#answer(asked, undefined);
    } else if (ERASE.has(character)) {
      this.#erase(1, asked);
    } else if (character === ERASE_LINE) {
      this.#erase(this.#typed.length, asked);
    } else {
      // The checks of the answer reject control characters; dropping them here would change a secret silently.
      this.#typed.push(character);
      if (!asked.isHidden && !CONTROL.test(character)) this.#echo(character);
    }
  }

  #erase(count: number, { isHidden }: Asked): void {
    const erased = this.#typed.splice(Math.max(0, this.#typed.length - count));
    const shown = erased.filter((character) => !CONTROL.test(character)).join('');
    if (!isHidden) this.#echo('\b \b'.repeat(widthOf(shown)));
  }

  #answer({ answer }: Asked, line: string | undefined): void {
    this.#typed = [];
    this.#asked = undefined;
    this.#echo('\n');
    answer(line);
  }
}
