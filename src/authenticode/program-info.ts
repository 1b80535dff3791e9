import { type FormatOption, type FormatOptions, SOME_TEXT, textOf } from '../format/options.ts';
import { authenticodeErrors } from './errors.ts';

const DESCRIPTION = {
  key: 'description',
  flag: '--description',
  short: '-d',
  placeholder: 'text',
  help: "program's name, shown by Windows",
  group: 'Windows',
  stored: 'both',
  value: SOME_TEXT,
  check: checkDescription,
} as const satisfies FormatOption;
const URL_OPTION = {
  key: 'url',
  flag: '--url',
  short: '-u',
  placeholder: 'url',
  help: "program's web page, shown by Windows",
  group: 'Windows',
  stored: 'both',
  value: {
    accepts: isWebAddress,
    expected: 'a web address such as https://example.com/app',
    schema: { type: 'string', format: 'uri', pattern: '^https?://' },
  },
  check: checkUrl,
} as const satisfies FormatOption;

export const PROGRAM_OPTIONS = [DESCRIPTION, URL_OPTION] as const;

export interface ProgramInfo {
  readonly description?: string | undefined;
  readonly url?: string | undefined;
}

/** Ignores empty strings. Converts the URL to ASCII, with Punycode for the host and percent-encoding for the rest. */
export function programInfo(options: FormatOptions): ProgramInfo {
  const description = textOf(options, DESCRIPTION);
  const url = textOf(options, URL_OPTION);
  return {
    description: description ? checkDescription(description) : undefined,
    url: url ? checkUrl(url) : undefined,
  };
}

/** In UTF-16 code units. */
const MAX_DESCRIPTION_LENGTH = 1024;
const MAX_URL_LENGTH = 2083;
const ONLY_URL_CHARACTERS = /^[\w.~:/?#[\]@!$&'()*+,;=%-]+$/;

function checkDescription(text: string): string {
  if (text.length > MAX_DESCRIPTION_LENGTH)
    throw invalidDescription(`is longer than ${MAX_DESCRIPTION_LENGTH} characters`);
  if (/\p{Cc}/u.test(text)) throw invalidDescription('contains control characters or line breaks');
  if (/[\p{Zl}\p{Zp}\p{Bidi_Control}]/u.test(text))
    throw invalidDescription('contains line separators or characters that change the text direction');
  if (/\p{Cs}/u.test(text)) throw invalidDescription('contains half a surrogate pair');
  return text;
}

function checkUrl(text: string): string {
  if (!URL.canParse(text)) throw invalidUrl('is not an absolute address');
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw invalidUrl('is neither https: nor http:');
  if (url.username !== '' || url.password !== '')
    throw invalidUrl('contains a user name or password, which anyone could read');
  rejectCorrected(text, url);
  // `url.href` can have a slash that the user did not write after the host.
  const written = ONLY_URL_CHARACTERS.test(text) ? text : url.href;
  if (written.length > MAX_URL_LENGTH) throw invalidUrl(`is longer than ${MAX_URL_LENGTH} characters`);
  return written;
}

/** Rejects input that the URL parser would silently correct: slashes, backslashes, spaces, and numbers as hosts. */
function rejectCorrected(text: string, url: URL): void {
  if (/\p{Cc}|^\s|\s$/u.test(text)) throw invalidUrl('contains control characters, or starts or ends with spaces');
  if (text.includes('\\')) throw invalidUrl('contains a backslash');
  const host = /^https?:\/\/([^/?#]+?)(:\d*)?(?:[/?#]|$)/i.exec(text)?.[1];
  if (host === undefined) throw invalidUrl('is not of the form https://host');
  const isAscii = /^[\x21-\x7e]+$/.test(host);
  if (isAscii && host.toLowerCase() !== url.hostname)
    throw invalidUrl(`writes the host ${url.hostname} in an unusual form`);
}

const invalidDescription = (problem: string) => authenticodeErrors('description-invalid', { problem });
const invalidUrl = (problem: string) => authenticodeErrors('url-invalid', { problem });

function isWebAddress(text: string): boolean {
  const parsed = URL.canParse(text) ? new URL(text) : undefined;
  return parsed?.protocol === 'https:' || parsed?.protocol === 'http:';
}
