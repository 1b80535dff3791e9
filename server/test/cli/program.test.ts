import { execFileSync } from 'node:child_process';
import { readdir, readFile, rm } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { copyData } from '../../../test/support/services/server-data.ts';
import { folderForEach } from '../../../test/support/set-up.ts';
import { readTime } from '../../src/cli/values.ts';
import { SERVER_ERRORS } from '../../src/errors.ts';
import { adminCommand } from '../support/commands.ts';

const folder = folderForEach();
const data = () => folder.at('data');

test.each([
  ['an unknown option', 'start --nonsense'],
  ['no file and no terminal for the credentials', 'start'],
  ['an unknown command', 'nonsense'],
  ['no command', ''],
  ['an option without its value', 'start --port'],
  ['an unknown log level', 'start --log-level loud'],
  ['half a TLS pair', 'start --tls-cert x.pem'],
  ['a library that is not there', 'start --pkcs11-library /no/such.so'],
  ['a certificate without a number', 'certificate add'],
  ['an unsupported key size', 'certificate add --number x --bits 1024'],
  ['a number with a path in it', 'certificate add --number ../x'],
  ['a name with a control character', 'certificate add --number x --common-name a\u001bb'],
  ['a port with characters that control a terminal', 'start --port 1\u202e\u001b[2J'],
  ['such a library', 'start --pkcs11-library /no\u202e/such\u0085.so'],
  ['such an unknown option', 'start --no\u202e\u009b'],
])('a usage error: %s ends with 2, says why without control characters, and makes nothing', async (_name, line) => {
  const args = line.split(' ').filter((word) => word !== '');
  const place = args.length > 0 && args[0] !== 'nonsense' ? ['--data', data()] : [];
  const { code, output, errors } = await adminCommand([...args, ...place]);
  expect({ code, output }).toEqual({ code: 2, output: '' });
  expect(errors.length).toBeGreaterThan(10);
  expect(errors).not.toMatch(/[^\n\P{Cc}]|[\p{Cf}\p{Zl}\p{Zp}]/u);
  if (/\u202e|\u2066/.test(line)) expect(errors).toMatch(/\\u20[26]/);
  expect(await readdir(folder.path)).toEqual([]);
});

test.each([
  ['a number sign', 'a#b'],
  ['an equals sign', 'a=b'],
  ['a line break', 'a\nb'],
  ['too long a path', `${'x'.repeat(200)}/`.repeat(5)],
])('a data folder with %s, which SoftHSM would misread, is rejected before anything is made', async (_name, path) => {
  for (const args of [
    ['start', '--client-env', folder.at('env')],
    ['certificate', 'list'],
  ]) {
    const { code, errors } = await adminCommand([...args, '--data', folder.at(path)]);
    expect(code).toBe(2);
    expect(errors).toContain(SERVER_ERRORS['data-path-unfit'].hint);
    expect(await readdir(folder.path)).toEqual([]);
  }
});

test('a first start at a terminal shows the credentials there, once, and says in three lines what to do', async () => {
  await copyData(data(), 2048);
  const first = await adminCommand(['start', '--data', data(), '--port', '0'], true);
  expect(first.code).toBe(0);
  const lines = first.errors.trimEnd().split('\n');
  const messages = lines.map((line): Readonly<Record<string, unknown>> => JSON.parse(line)).map(({ msg }) => msg);
  expect(messages.slice(1, 4)).toEqual([
    expect.stringMatching(/^created a certificate authority/),
    expect.stringMatching(/^printed the client's settings /),
    expect.stringMatching(/^next, .* sign app\.exe$/),
  ]);
  expect(first.shown).toMatch(/^CODESIGN_ACCESS_SECRET='[A-Za-z0-9_-]{43}'$/m);
  const path = join(data(), 'service', 'certificates', 'certificate-rsa-2048.pem');
  const chain = await readFile(path, 'utf8');
  await rm(path);
  const later = await adminCommand(['start', '--data', data(), '--port', '0'], true);
  expect(later).toMatchObject({ code: 0, shown: '', errors: expect.not.stringContaining('next, ') });
  expect(await readFile(path, 'utf8')).toBe(chain); // a start restores a lost chain file
});

test('an address in use has a separate error, and the next start writes the credentials', async () => {
  await copyData(data(), 2048);
  const clientEnv = folder.at('client.env');
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  const { port } = taken.address() as AddressInfo;
  const args = ['start', '--data', data(), '--client-env', clientEnv];
  const refused = await adminCommand([...args, '--port', `${port}`]);
  await new Promise((resolve) => taken.close(resolve));
  expect(refused).toMatchObject({ code: 6, errors: expect.stringContaining('--port') });
  expect(await readdir(folder.path)).toEqual(['data']);
  expect((await adminCommand([...args, '--port', '0'])).code).toBe(0);
  expect(await readFile(clientEnv, 'utf8')).toContain('CODESIGN_ACCESS_SECRET=');
});

const hasIpv6 = Object.values(networkInterfaces()).some((list) => list?.some(({ address }) => address === '::1'));
test.each([
  ['--host 0.0.0.0', '127.0.0.1', '0.0.0.0'],
  ...(hasIpv6
    ? [
        ['--host 0:0:0:0:0:0:0:0', '127.0.0.1', '[0:0:0:0:0:0:0:0]'],
        ['--host ::1', '[::1]', '[::1]'],
      ]
    : []),
  ['--tls-name sign.example.com --tls-name 10.1.2.3', 'sign.example.com', '127.0.0.1'],
])('with %s, clients get an address that they can reach', async (args, base, listened) => {
  await copyData(data(), 2048);
  const clientEnv = folder.at('client.env');
  const start = ['start', '--data', data(), '--port', '0', '--client-env', clientEnv];
  const { code, output, errors } = await adminCommand([...start, ...args.split(' ')]);
  expect(code).toBe(0);
  expect(output.replace(/\d+\n$/, '')).toBe(`listening on https://${listened}:`);
  expect(errors).toMatch(/"accepts calls at https:/);
  expect(errors).not.toContain('listening on');
  const url = /^CODESIGN_BASE_URL='(.*)'$/m.exec(await readFile(clientEnv, 'utf8'))?.[1];
  expect(url?.replace(/\d+$/, '')).toBe(`https://${base}:`);
});

test('a path with quotes in it survives a shell that reads the environment file', async () => {
  const odd = folder.at("it's $HOME");
  await copyData(odd, 2048);
  const clientEnv = folder.at('client.env');
  expect((await adminCommand(['start', '--data', odd, '--port', '0', '--client-env', clientEnv])).code).toBe(0);
  const shell = ['-c', 'set -a; . "$0"; printf %s "$CODESIGN_CA_FILE"', clientEnv];
  expect(execFileSync('sh', shell, { encoding: 'utf8' })).toBe(join(odd, 'service', 'tls', 'ca.pem'));
});

test('certificates are added with their key size and listed with their chain files', async () => {
  await copyData(data(), 2048);
  const add = ['certificate', 'add', '--data', data(), '--number', 'another', '--bits', '2048'];
  const path = join(data(), 'service', 'certificates', 'certificate-another.pem');
  expect(await adminCommand(add)).toMatchObject({ code: 0, output: `${path}\n` });
  expect((await readFile(path, 'utf8')).match(/BEGIN CERTIFICATE/g)).toHaveLength(2);
  const { output } = await adminCommand(['certificate', 'list', '--data', data()]);
  const rows = output.split('\n').map((line) => line.split(/ {2,}/).slice(0, 2).join(' '));
  expect(rows).toEqual(['NUMBER KEY', '1 RSA 3072', 'rsa-2048 RSA 2048', 'another RSA 2048', '']);
  expect((await adminCommand(add)).code).toBe(2);
});

test('rejects days that do not exist in the calendar', () => {
  for (const day of ['2026-02-29', '2026-02-31', '2026-04-31', '2026-02-30T12:00:00Z']) {
    expect(() => readTime('--before', day)).toThrow('a date or time');
  }
  expect(readTime('--before', '2028-02-29')).toEqual(new Date('2028-02-29T00:00:00Z'));
  expect(readTime('--before', '2026-03-01T00:30+02:00')).toEqual(new Date('2026-02-28T22:30:00Z'));
});
