import { type FormatOption, SOME_TEXT } from '../../format/options.ts';
import { pdfSigningErrors } from './errors.ts';

/** Length in UTF-16 units. PDF readers show only the first line or two of this text. */
const LONGEST = 1024;

const shown = <Key extends string>(key: Key, flag: `--${string}`, help: string) =>
  ({
    key,
    flag,
    placeholder: 'text',
    help,
    group: 'PDF',
    stored: 'both',
    value: SOME_TEXT,
    check(text: string): void {
      const problem =
        text.length > LONGEST
          ? `is longer than ${LONGEST} characters`
          : /\p{Cc}|\p{Cs}|\p{Bidi_Control}/u.test(text) && 'contains control characters';
      if (problem) throw pdfSigningErrors('pdf-text-invalid', { flag, problem });
    },
  }) as const satisfies FormatOption;

export const REASON = shown('reason', '--reason', 'reason for the signature');
export const LOCATION = shown('location', '--location', 'place where the document is signed');
export const CONTACT = shown('contact', '--contact', "signer's contact information");

export const FIELD = {
  key: 'field',
  flag: '--field',
  placeholder: 'name',
  help: 'name of the empty signature field to sign',
  group: 'PDF',
  defaultText: 'a new, invisible field',
  value: SOME_TEXT,
} as const satisfies FormatOption;

/** DocMDP levels (ISO 32000-2, 12.8.2.2) state which changes are permitted after the signature. */
export const CERTIFY_LEVELS: ReadonlyMap<string, number> = new Map([
  ['no-changes', 1],
  ['forms', 2],
  ['comments', 3],
]);

export const CERTIFY = {
  key: 'certify',
  flag: '--certify',
  placeholder: 'level',
  help: 'changes allowed after certification: no-changes, forms or comments',
  group: 'PDF',
  value: {
    accepts: (text: string) => CERTIFY_LEVELS.has(text),
    expected: 'no-changes, forms or comments',
    schema: { enum: [...CERTIFY_LEVELS.keys()] },
  },
} as const satisfies FormatOption;

export const PDF_OPTIONS = [REASON, LOCATION, CONTACT, FIELD, CERTIFY] as const;
