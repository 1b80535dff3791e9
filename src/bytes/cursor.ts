import { bytesErrors } from './errors.ts';

/** Reads little-endian fields. Throws `read-past-end`. */
export class Cursor {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #base: number;
  #position = 0;

  /** Offsets are file offsets; `base` is the file offset of `bytes`. */
  constructor(bytes: Uint8Array, base = 0) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#base = base;
  }

  get offset(): number {
    return this.#base + this.#position;
  }

  get remaining(): number {
    return this.#bytes.length - this.#position;
  }

  seek(offset: number, what: string): this {
    const position = offset - this.#base;
    if (position < 0 || position > this.#bytes.length) throw this.#short(what, 0, offset);
    this.#position = position;
    return this;
  }

  skip(length: number, what: string): this {
    this.#take(length, what);
    return this;
  }

  u8(what: string): number {
    return this.#view.getUint8(this.#take(1, what));
  }

  u16(what: string): number {
    return this.#view.getUint16(this.#take(2, what), true);
  }

  u32(what: string): number {
    return this.#view.getUint32(this.#take(4, what), true);
  }

  bytes(length: number, what: string): Uint8Array {
    const start = this.#take(length, what);
    return this.#bytes.subarray(start, start + length);
  }

  #take(length: number, what: string): number {
    const start = this.#position;
    if (length < 0 || length > this.remaining) throw this.#short(what, length, this.offset);
    this.#position = start + length;
    return start;
  }

  #short(what: string, length: number, offset: number) {
    return bytesErrors('read-past-end', { what, length, offset, size: this.#base + this.#bytes.length });
  }
}
