/** The program's name and web page as the user gives them, checked before anything is signed. */

import { authenticodeErrors } from './errors.ts';

export interface ProgramInfo {
  readonly description?: string | undefined;
  readonly url?: string | undefined;
}

/** In UTF-16 units: Windows shows the first line of it in a dialog. */
const MAX_DESCRIPTION_LENGTH = 1024;
const MAX_URL_LENGTH = 2083;

/**
 * The same, in the form they are written: an empty text is none, a URL is ASCII (host in Punycode, the rest
 * percent-encoded) and otherwise as given. Throws `description-invalid`, `url-invalid`.
 */
export function checkProgramInfo({ description, url }: ProgramInfo): ProgramInfo {
  return {
    description: description ? checkDescription(description) : undefined,
    url: url ? checkUrl(url) : undefined,
  };
}

function checkDescription(text: string): string {
  if (text.length > MAX_DESCRIPTION_LENGTH)
    throw invalidDescription(`is longer than ${MAX_DESCRIPTION_LENGTH} characters`);
  if (/\p{Cc}/u.test(text)) throw invalidDescription('holds control characters or line breaks');
  if (/\p{Cs}/u.test(text)) throw invalidDescription('holds half a character (a lone surrogate)');
  return text;
}

function checkUrl(text: string): string {
  let url: URL;
  try {
    url = new URL(text);
  } catch (cause) {
    throw authenticodeErrors('url-invalid', { problem: 'is not an absolute address' }, { cause });
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw invalidUrl('is neither https: nor http:');
  if (url.username !== '' || url.password !== '')
    throw invalidUrl('holds user information, which everybody could read');
  // What is ASCII stays as the user wrote it; URL would add a slash to a bare host.
  const written = /^[\x21-\x7e]+$/.test(text) ? text : url.href;
  if (written.length > MAX_URL_LENGTH) throw invalidUrl(`is longer than ${MAX_URL_LENGTH} characters`);
  return written;
}

const invalidDescription = (problem: string) => authenticodeErrors('description-invalid', { problem });
const invalidUrl = (problem: string) => authenticodeErrors('url-invalid', { problem });
