/** Text from outside (the service, certificates, file names) made safe to print: nothing in it can move a cursor, reorder a line or command a build service. */

const SHORT_ESCAPES: ReadonlyMap<string, string> = new Map([
  ['\t', '\\t'],
  ['\n', '\\n'],
  ['\r', '\\r'],
]);

/**
 * C0 and C1 controls with DEL (Cc), line and paragraph separators (Zl, Zp), the marks that change reading direction
 * (Unicode's Bidi_Control), and surrogates that stand alone (Cs).
 */
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Cs}]/gu;

/**
 * What build services read in a program's output as a command to them, wherever it stands: GitHub Actions (both of its
 * forms), Azure Pipelines, TeamCity.
 */
export const COMMAND =
  /::(?=(?:set-output|set-env|save-state|add-path|add-mask|add-matcher|remove-matcher|stop-commands|debug|notice|warning|error|group|endgroup|echo)[ :])|##(?=[a-z]*\[)/gi;

/** Code points of outside text that a message carries at most. */
const DEFAULT_LENGTH = 300;

/**
 * The text with every unprintable character as a visible escape (`\n`, `\x1b`, `\u{202e}`), cut to `maxLength` code
 * points with an ellipsis. Cut before escaping, so that an escape is never halved.
 */
export function printable(text: string, maxLength = DEFAULT_LENGTH): string {
  // A code point is at most two units: cutting first keeps a text of megabytes cheap.
  const points = Array.from(text.slice(0, maxLength * 2 + 2));
  const kept = points.slice(0, maxLength).join('');
  return escaped(kept) + (points.length > maxLength ? '…' : '');
}

function escaped(text: string): string {
  const harmless = text.replace(COMMAND, ([first = '']) => first + (first === ':' ? '\\x3a' : '\\x23'));
  return harmless.replace(UNPRINTABLE, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return (
      SHORT_ESCAPES.get(character) ??
      (code <= 0xff ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`)
    );
  });
}

/** What JSON allows in a string and a terminal would act on: C1 controls and DEL, marks of reading direction, line separators. */
const DANGEROUS = /[\u007f-\u009f\p{Bidi_Control}\u2028\u2029]/gu;

export function harmlessJson(document: object, indent?: number): string {
  const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  const disarmed = (command: string) => `${command.slice(0, 1)}${escaped(command.slice(1))}`;
  const text = JSON.stringify(document, undefined, indent).replace(COMMAND, disarmed);
  return text.replace(DANGEROUS, escaped);
}
