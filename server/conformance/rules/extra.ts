/** Sections 2.2 and 2.3: `extra` and its optional members, and members that the document does not define. */

import { isSigned, isSignedOrRefused } from '../check-answer.ts';
import { each, type Rule, shared, spending } from '../rule.ts';

const MEMBERS = {
  platform: 'linux',
  version: '1.0.0',
  revision: '4f2a',
  time: '2030-12-31T18:00:00Z',
  hostname: 'build-7',
  signing_filename: 'app.exe',
  signing_filesize: 123_456,
} as const;

const signs = (title: string, extra: unknown): Rule =>
  spending('2.3', title, 1, async (deployment) => isSigned(await deployment.sign({ ...deployment.body(), extra })));

/** Values that differ from the document, which does not define how the service treats them. */
const peculiar = (title: string, extra: unknown): Rule =>
  spending('2.3', `how the service treats ${title}`, 1, async (deployment) =>
    isSignedOrRefused(await deployment.sign({ ...deployment.body(), extra })),
  );

export const EXTRA_RULES: readonly Rule[] = [
  shared('2.2', 'the service accepts a request without `extra`', async (deployment) =>
    isSigned((await deployment.signed()).answer),
  ),
  signs('the service accepts a request whose `extra` object has all members', MEMBERS),
  signs('the service accepts a request whose `extra` object is empty', {}),
  spending(
    '2.3',
    'the service accepts a request whose `extra` object has only one member',
    Object.keys(MEMBERS).length,
    async (deployment) =>
      each(Object.entries(MEMBERS), async ([name, value]) =>
        isSigned(await deployment.sign({ ...deployment.body(), extra: { [name]: value } })),
      ),
  ),
  signs('the service accepts a request whose file name mixes Latin, Cyrillic and Japanese letters', {
    signing_filename: 'Größe/файл/大きさ "1" \\ 😀.exe',
  }),
  signs('the service accepts a request with a file size of 0', { signing_filesize: 0 }),
  signs('the service accepts a request with a file size of 16 GiB', { signing_filesize: 2 ** 34 }),
  signs('the service accepts a request with a file size of 2^53 − 1', { signing_filesize: Number.MAX_SAFE_INTEGER }),
  signs('the service accepts a request with empty strings in `extra`', { platform: '', signing_filename: '' }),
  peculiar('an unknown member of `extra`', { ...MEMBERS, conformance: true }),
  peculiar('an `extra` field that is null', null),
  peculiar('an `extra` field that is an array', []),
  peculiar('an `extra` field that is a string', 'linux'),
  ...Object.entries(MEMBERS).map(([name, value]) =>
    peculiar(`a \`${name}\` member of the wrong type`, { [name]: typeof value === 'string' ? 7 : '7' }),
  ),
  peculiar('a file size that is not an integer', { signing_filesize: 1.5 }),
  peculiar('a file size of 2^53', { signing_filesize: 2 ** 53 }),
  peculiar('a negative file size', { signing_filesize: -1 }),
  peculiar('a member of `extra` that is null', { hostname: null }),
  peculiar('a file name of 4,000 characters', { signing_filename: 'x'.repeat(4000) }),
  spending('2.2', 'how the service treats an unknown member of the request', 1, async (deployment) =>
    isSignedOrRefused(await deployment.sign({ ...deployment.body(), conformance: true })),
  ),
  spending('2.2', 'how the service treats a request with two `code` fields', 1, async (deployment) => {
    const json = JSON.stringify(deployment.body());
    return isSignedOrRefused(await deployment.sign(`{"code":"conformance-no-such-certificate",${json.slice(1)}`));
  }),
];
