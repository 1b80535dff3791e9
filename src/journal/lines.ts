import { hash } from 'node:crypto';
import { closeSync, fdatasync, fstatSync, readSync, writeSync } from 'node:fs';

/** Hexadecimal digits of SHA-256: against accidents, not against forgers. */
const SUM_LENGTH = 16;
/** What stands between the JSON of the value and the end of the line: `,"sum":"0123456789abcdef"}`. */
const SUM_MEMBER = ',"sum":"';
const TAIL_LENGTH = SUM_MEMBER.length + SUM_LENGTH + 2;

/** One line with its newline. `value` has at least one member. */
export function encodeLine(value: Readonly<Record<string, unknown>>): string {
  const json = JSON.stringify(value);
  return `${json.slice(0, -1)}${SUM_MEMBER}${checksum(json)}"}\n`;
}

/** The value without its `sum`; undefined for what is not a whole line. */
export function decodeLine(line: string): unknown {
  const bodyLength = line.length - TAIL_LENGTH;
  if (bodyLength < 1 || !line.startsWith(SUM_MEMBER, bodyLength) || !line.endsWith('"}')) return undefined;
  const sum = line.slice(bodyLength + SUM_MEMBER.length, -2);
  const json = `${line.slice(0, bodyLength)}}`;
  if (sum !== checksum(json)) return undefined;
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

/** The lines of a file, blank ones left out. Only the last may lack its newline: then it may be torn. */
export function splitLines(bytes: Uint8Array): { readonly lines: readonly string[]; readonly terminated: boolean } {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  return { lines: text.split('\n').filter((line) => line !== ''), terminated: text === '' || text.endsWith('\n') };
}

function checksum(json: string): string {
  return hash('sha256', json, 'hex').slice(0, SUM_LENGTH);
}

/** The file of a call has a few lines for each file that shares its signature. */
const LARGEST_CALL_FILE = 16 * 1024 * 1024;

const NEWLINE = 0x0a;
const LINE_END = Buffer.from([NEWLINE]);
const APPEND_ATTEMPTS = 5;

export type LinesFile = ReturnType<typeof linesFile>;

/** All of an open file. */
export function readAll(fd: number): Uint8Array {
  const size = sizeOf(fd);
  if (size > LARGEST_CALL_FILE) throw Object.assign(new Error('too large for a call'), { code: 'EFBIG' });
  return readFrom(fd, 0, size);
}

/** Takes over the descriptor of a file that is read and appended to. */
export function linesFile(descriptor: number) {
  let isClosed = false;
  let flushing: Promise<unknown> = Promise.resolve();

  /** The number of a file that was closed may be another file's by now. */
  function file(): number {
    if (isClosed) throw Object.assign(new Error('the file was closed'), { code: 'EBADF' });
    return descriptor;
  }

  return {
    /** All of it, from this very file, even if its name is another's by now. */
    read: (): Uint8Array => readAll(file()),
    /** At its end, in this order. */
    append(lines: readonly string[]): void {
      let missing: readonly Buffer[] = lines.map((line) => Buffer.from(line));
      for (let attempt = 1; attempt <= APPEND_ATTEMPTS; attempt++) {
        missing = appendOnce(file(), missing);
        if (missing.length === 0) return;
      }
      throw Object.assign(new Error('what was appended is not there'), { code: 'EIO' });
    },
    /** To the disk. */
    async flush(): Promise<void> {
      const flushed = flushData(file());
      flushing = flushed.catch(() => undefined);
      await flushed;
    },
    async [Symbol.asyncDispose](): Promise<void> {
      if (isClosed) return;
      isClosed = true;
      await flushing;
      closeSync(descriptor);
    },
  };
}

/**
 * Gives the lines that did not become lines of their own: another process was stopped inside a line of its own meanwhile,
 * or this is a network's file system, on which one end of the file can look like another.
 */
function appendOnce(fd: number, lines: readonly Buffer[]): readonly Buffer[] {
  const size = sizeOf(fd);
  const before = Math.max(0, size - 1);
  // A torn line before these must not take the first along.
  const isInsideLine = size > 0 && readFrom(fd, before, 1)[0] !== NEWLINE;
  const bytes = Buffer.concat(isInsideLine ? [LINE_END, ...lines] : lines);
  for (let done = 0; done < bytes.length; ) {
    done += writeSync(fd, bytes, done, bytes.length - done);
  }
  const tail = readFrom(fd, before, sizeOf(fd) - before);
  return lines.filter((line) => !isLineIn(tail, line, before === 0));
}

function isLineIn(tail: Buffer, line: Buffer, isWhole: boolean): boolean {
  const at = tail.indexOf(line);
  return (at === 0 && isWhole) || (at > 0 && tail[at - 1] === NEWLINE);
}

/**
 * All but this is asked of the system directly: the journal's files are small, what is read was just written, and it is
 * hardly ever on another machine's disk, so the system answers out of memory. Through Node's thread pool each call would take
 * ten times as long, and that is most of what a step of the journal costs. A flush waits for the disk, and so it goes there.
 */
function flushData(fd: number): Promise<void> {
  return new Promise((resolve, reject) => {
    fdatasync(fd, (failure) => (failure ? reject(failure) : resolve()));
  });
}

function sizeOf(fd: number): number {
  return fstatSync(fd).size;
}

function readFrom(fd: number, position: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(Math.max(0, length));
  let done = 0;
  for (let read = -1; read !== 0 && done < length; done += read) {
    read = readSync(fd, bytes, done, length - done, position + done);
  }
  return bytes.subarray(0, done);
}
