/** A value that must never be shown. It prints as [secret] everywhere, and calls of `reveal()` are easy to find. */

import { inspect } from 'node:util';

const MASK = '[secret]';

export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** Call this only to put the value into a request. */
  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return MASK;
  }

  toJSON(): string {
    return MASK;
  }

  [Symbol.toPrimitive](): string {
    return MASK;
  }

  [inspect.custom](): string {
    return MASK;
  }
}
