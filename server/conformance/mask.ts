/** Text that is fit to be shown: no secret, no Authorization, of digests and signatures four characters at each end, nothing a terminal would act on. */

import { printable } from '../../src/errors/printable.ts';

/** Limit of one body or value, in code points. */
const SHOWN = 600;
/** Base64 in any alphabet from 24 characters on: a SHA-1 digest has 28. Slashes may be escaped in JSON. */
const LONG_RUN = /(?:[A-Za-z\d+_=-]|\\?\/){24,}/g;
const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** @param digest the one that was sent, which may be no Base64 */
export type Mask = (text: string, digest?: string) => string;

/** @param secrets whatever must not be seen, in every form it may come in */
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

/** As they are and as they stand in JSON, the longest first. What is very short hides nothing, and stands everywhere. */
function formsOf(texts: readonly string[]): readonly string[] {
  return [...new Set(texts.flatMap((text) => [text, JSON.stringify(text).slice(1, -1)]))]
    .filter((form) => form.length > 11)
    .sort((one, other) => other.length - one.length);
}

function ends(text: string): string {
  return `${text.slice(0, 4)}…${text.slice(-4)}`;
}
