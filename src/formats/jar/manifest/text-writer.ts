/** Text put together piece by piece as UTF-8, in one buffer. */

export interface TextWriter {
  add(text: string): void;
  /** What was added so far. */
  bytes(): Buffer;
}

/** `capacity`: how many bytes it will probably be; it may become more. `start`: what it begins with. */
export function textWriter(capacity: number, start: readonly Uint8Array[] = []): TextWriter {
  let length = start.reduce((sum, part) => sum + part.length, 0);
  let written = Buffer.allocUnsafeSlow(length + capacity);
  let position = 0;
  for (const part of start) {
    written.set(part, position);
    position += part.length;
  }
  return {
    add(text) {
      // A UTF-16 unit makes three bytes at most.
      const room = text.length * 3;
      if (length + room > written.length) {
        const larger = Buffer.allocUnsafeSlow(written.length * 2 + room);
        written.copy(larger, 0, 0, length);
        written = larger;
      }
      length += written.write(text, length);
    },
    bytes: () => written.subarray(0, length),
  };
}

/** With CR LF, as the strictest reading of "72 bytes" has it. */
const LONGEST = 70;

/** `Name: value` with its line end, continued on further lines where it is too long (JAR File Specification, "Line length"). */
export function manifestLine(name: string, value: string, newline: string): string {
  const text = `${name}: ${value}`;
  // A UTF-16 unit makes three bytes of UTF-8 at most.
  if (text.length * 3 <= LONGEST || Buffer.byteLength(text) <= LONGEST) return text + newline;
  return wrap(text, newline);
}

function wrap(text: string, newline: string): string {
  let result = '';
  let length = 0;
  for (const character of text) {
    const bytes = Buffer.byteLength(character);
    if (length + bytes > LONGEST) {
      result += `${newline} `;
      length = 1;
    }
    result += character;
    length += bytes;
  }
  return result + newline;
}

export const CREATED_BY = 'codesign-remote';
