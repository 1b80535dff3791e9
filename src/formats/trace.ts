import type { ByteSource } from '../bytes/byte-source.ts';

const LONGEST_TRACE = 1024;

const MOST_SEARCHED = 64 * 1024 * 1024;

/** Searches bytes as Latin-1. If a file is too large to be searched, the result is true. */
export function hasTrace(pattern: RegExp): (source: ByteSource) => Promise<boolean> {
  return async (source) => {
    if (source.size > MOST_SEARCHED) return true;
    let tail = '';
    for await (const chunk of source.stream()) {
      const text = tail + Buffer.from(chunk).toString('latin1');
      if (pattern.test(text)) return true;
      tail = text.slice(-LONGEST_TRACE);
    }
    return false;
  };
}

export const CMS_TRACE = new RegExp(
  [...Buffer.from('06092a864886f70d010702', 'hex').toString('latin1')].map(literally).join(''),
);

export function inAnyEncoding(text: string): RegExp {
  return new RegExp([...text].map(literally).join('\\0?'), 'i');
}

function literally(character: string): string {
  return character.replace(/[^\w\s]/, '\\$&');
}
