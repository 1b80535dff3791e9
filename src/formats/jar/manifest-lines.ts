/** Writing lines of manifests and signature files: never longer than 72 bytes, never broken inside a character. */

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
