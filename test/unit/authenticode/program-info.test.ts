/** Description and web page are checked before anything is signed. */

import { describe, expect, it } from 'vitest';
import { PROGRAM_OPTIONS, type ProgramInfo, programInfo } from '../../../src/authenticode/program-info.ts';
import { checkFormatOptions, type FormatOptions } from '../../../src/format/options.ts';

describe('the description and the web page', () => {
  it.each<[string, ProgramInfo, ProgramInfo]>([
    ['nothing', {}, {}],
    ['empty text', { description: '', url: '' }, {}],
    ['any script', { description: 'Пример 例 😀' }, { description: 'Пример 例 😀' }],
    ['an ASCII address as given', { url: 'HTTP://Example.test' }, { url: 'HTTP://Example.test' }],
    ['another one encoded', { url: 'https://例.test/ä b' }, { url: 'https://xn--fsq.test/%C3%A4%20b' }],
    ['one with a port', { url: 'http://[::1]:8080?a=b#c' }, { url: 'http://[::1]:8080?a=b#c' }],
  ])('may be %s', (_name, given, written) => {
    expect(programInfo(given as FormatOptions)).toEqual({ description: undefined, url: undefined, ...written });
    expect(() => checkFormatOptions(PROGRAM_OPTIONS, given as FormatOptions)).not.toThrow();
  });

  it.each<[string, ProgramInfo, string]>([
    ['two lines', { description: 'a\nb' }, 'description-invalid'],
    ['text turned round', { description: 'a\u202egpj.exe' }, 'description-invalid'],
    ['one with a single slash', { url: 'https:/example.com' }, 'url-invalid'],
    ['one with a backslash in its path', { url: 'http://example.com\\a' }, 'url-invalid'],
    ['one with spaces around it', { url: ' https://example.com' }, 'url-invalid'],
    ['one with a line break in it', { url: 'https://exam\nple.com' }, 'url-invalid'],
    ['one whose host is a number', { url: 'https://0x7f.1/' }, 'url-invalid'],
    ['half a character', { description: 'a\ud83d' }, 'description-invalid'],
    ['a novel', { description: 'a'.repeat(1025) }, 'description-invalid'],
    ['a relative address', { url: 'example.test/x' }, 'url-invalid'],
    ['a script', { url: 'javascript:alert(1)' }, 'url-invalid'],
    ['a password', { url: 'https://me:secret@example.test/' }, 'url-invalid'],
    ['an endless address', { url: `https://example.test/${'a'.repeat(2083)}` }, 'url-invalid'],
  ])('may not be %s', (_name, given, code) => {
    // A password is never shown.
    const message = expect.not.stringContaining('secret');
    const refusal = expect.objectContaining({ code, category: 'usage', message });
    expect(() => programInfo(given as FormatOptions)).toThrow(refusal);
    expect(() => checkFormatOptions(PROGRAM_OPTIONS, given as FormatOptions)).toThrow(refusal);
  });
});
