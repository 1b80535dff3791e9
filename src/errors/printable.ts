/** Untrusted text must not move the cursor, reorder a line, or give commands to a CI system. */

const SHORT_ESCAPES: ReadonlyMap<string, string> = new Map([
  ['\t', '\\t'],
  ['\n', '\\n'],
  ['\r', '\\r'],
]);

/**
 * Controls (Cc), line and paragraph separators (Zl, Zp), characters that change the direction, and unpaired surrogates
 * (Cs).
 */
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Cs}]/gu;

/** GitHub Actions (both forms), Azure Pipelines and TeamCity recognise them anywhere in the output. */
export const COMMAND =
  /::(?=(?:set-output|set-env|save-state|add-path|add-mask|add-matcher|remove-matcher|stop-commands|debug|notice|warning|error|group|endgroup|echo)[ :])|##(?=[a-z]*\[)/gi;

const DEFAULT_LENGTH = 300;

/** Escapes unprintable characters (`\n`, `\x1b`, `\u{202e}`). Cuts first, so that no escape sequence is cut in half. */
export function printable(text: string, maxLength = DEFAULT_LENGTH): string {
  // A code point has at most two code units. Cutting here is fast even for megabytes.
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

/** JSON permits these control characters, but terminals interpret them. */
const DANGEROUS = /[\u007f-\u009f\p{Bidi_Control}\u2028\u2029]/gu;

export function harmlessJson(document: object, indent?: number): string {
  const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  const disarmed = (command: string) => `${command.slice(0, 1)}${escaped(command.slice(1))}`;
  const text = JSON.stringify(document, undefined, indent).replace(COMMAND, disarmed);
  return text.replace(DANGEROUS, escaped);
}
