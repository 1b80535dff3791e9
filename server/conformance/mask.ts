/**
 * Makes text printable: hides secrets and Authorization headers, shortens digests and signatures, and escapes control
 * characters.
 */

import { printable } from '../../src/errors/printable.ts';

/** Limit on the length of a printed body or value, in code points. */
const SHOWN = 600;
/** At least 24 Base64 characters (a SHA-1 digest has 28), in any alphabet. JSON may escape slashes. */
const LONG_RUN = /(?:[A-Za-z\d+_=-]|\\?\/){24,}/g;
const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** @param digest the digest that was sent, which may not be Base64 */
export type Mask = (text: string, digest?: string) => string;

/** @param secrets texts to hide, in every form */
export function createMask(secrets: readonly string[]): Mask {
  const hidden = formsOf(secrets);
  return (text, digest) => {
    const open = hidden.reduce((rest, form) => rest.replaceAll(form, '[secret]'), text);
    const halved = formsOf([digest ?? '']).reduce((rest, form) => rest.replaceAll(form, ends(form)), open);
    return printable(
      halved.replace(LONG_RUN, (run) => (UUID.test(run) ? run : ends(run))),
      SHOWN,
    );
  };
}

/**
 * Returns each text and its JSON form, the longest first. Short texts are omitted, because they would match
 * everywhere.
 */
function formsOf(texts: readonly string[]): readonly string[] {
  return [...new Set(texts.flatMap((text) => [text, JSON.stringify(text).slice(1, -1)]))]
    .filter((form) => form.length > 11)
    .sort((one, other) => other.length - one.length);
}

function ends(text: string): string {
  return `${text.slice(0, 4)}…${text.slice(-4)}`;
}
