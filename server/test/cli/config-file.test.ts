import { writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { folderForEach } from '../../../test/support/set-up.ts';
import { readConfig } from '../../src/config.ts';

const folder = folderForEach();
const read = async (settings: unknown, environment: NodeJS.ProcessEnv = {}, options = {}) => {
  const config = folder.at('server.json');
  await writeFile(config, typeof settings === 'string' ? settings : JSON.stringify(settings));
  return readConfig({ config, ...options }, environment);
};

const FULL = {
  ...{ data: 'data', host: '0.0.0.0', port: 1234, proxy: ['10.0.0.5', '2001:db8::/32'], logLevel: 'warn' },
  database: 'postgres://file@host/name',
  tls: { certificate: 'tls/cert.pem', key: '/tls/key.pem', names: ['sign.example.com'] },
  pkcs11: { library: '/lib/file.so', token: 'release', pinFile: 'pin', sessions: 3 },
  limits: { waiting: 7 },
};

test('accepts every setting in the file, with relative paths from its folder', async () => {
  const { host, port, proxy, logLevel, database } = FULL;
  expect(await read(FULL)).toEqual({
    ...{ dataRoot: folder.at('data'), database, host, port, proxy, logLevel, waiting: 7 },
    ...{ pkcs11Library: '/lib/file.so', pkcs11Token: 'release', pkcs11PinFile: folder.at('pin'), pkcs11Sessions: 3 },
    ...{ clientEnv: undefined, tlsNames: ['sign.example.com'] },
    tls: { certificate: folder.at('tls/cert.pem'), key: '/tls/key.pem' },
  });
});

test('skips a byte order mark, which editors on Windows write', async () => {
  expect(await read('\uFEFF{ "port": 1234 }')).toMatchObject({ port: 1234 });
});

test('gives options precedence over the environment, and the environment over the file, which it may name', async () => {
  const environment = {
    CODESIGN_SERVER_DATA: '/environment',
    CODESIGN_SERVER_PORT: '99',
    CODESIGN_SERVER_DATABASE: 'postgresql://environment@host/name',
    CODESIGN_SERVER_PKCS11_TOKEN: 'environment',
    CODESIGN_SERVER_PKCS11_PIN_FILE: '/environment/pin',
  };
  expect(await read(FULL, environment)).toMatchObject({
    ...{ dataRoot: '/environment', port: 99, database: 'postgresql://environment@host/name' },
    ...{ pkcs11Token: 'environment', pkcs11PinFile: '/environment/pin', pkcs11Library: '/lib/file.so' },
  });
  const database = 'postgres://option@host/name';
  const options = { port: '1', database, tlsCert: 'a', tlsKey: 'b' };
  const expected = { port: 1, database, tls: { certificate: 'a', key: 'b' } };
  expect(await read(FULL, environment, options)).toMatchObject(expected);
  expect(readConfig({}, { CODESIGN_SERVER_CONFIG: folder.at('server.json') }).port).toBe(1234);
});

test.each([
  ['the whole is not JSON', '{ "database": "postgres://user:a-secret@host/name", x }'],
  ['the whole is not an object', []],
  ['port is not a whole number from 0 to 65535', { port: '8443x' }],
  ['port is not a whole number from 0 to 65535', { port: 65_536 }],
  ['databse is not a setting; the nearest is database', { databse: 'postgres://user:a-secret@host/name' }],
  ['pcks11.token is not a setting; the nearest is pkcs11.token', { pcks11: { token: 'x' } }],
  ['pkcs11.sessions is not a whole number from 1 to 1024', { pkcs11: { sessions: 0 } }],
  ['pkcs11.pin is not a setting; the nearest is pkcs11.pinFile', { pkcs11: { pin: '1234' } }],
  ['pkcs11 is not a setting', { pkcs11: 'softhsm' }],
  ['tls.names is not a list', { tls: { names: 'a' } }],
  ['tls.names.1 is not a DNS name or an IP address', { tls: { names: ['a', 7] } }],
  ['proxy is not a list', { proxy: '10.0.0.5' }],
  ...['a.example', '10.0.0.0/0', '10.0.0.0/33', '::/129', '10.0.0.0/8/8', 'fe80::1%eth0'].map(
    (proxy) => ['proxy.0 is not an IP address, or a network such as 10.0.0.0/8', { proxy: [proxy] }] as const,
  ),
  ['logLevel is not one of fatal, error,', { logLevel: 'loud' }],
  ['limits.waiting is not a whole number from 0 to 100000', { limits: { waiting: 0.5 } }],
  ['data is not a non-empty string', { data: '' }],
  ['database is not an address that begins with postgres://', { database: 'mysql://user:a-secret@host/name' }],
] as const)('reports the key’s path: %s', async (said, settings) => {
  const message = expect.stringContaining(`${folder.at('server.json')}, ${said}`);
  await expect(read(settings)).rejects.toMatchObject({ code: 'config-invalid', exitCode: 2, message });
  await expect(read(settings)).rejects.not.toThrow(/a-secret/);
});

test('a file that cannot be read has a separate error', () => {
  const missing = folder.at('missing.json');
  expect(() => readConfig({ config: missing }, {})).toThrow(expect.objectContaining({ code: 'config-unreadable' }));
});

test.each([
  ['CODESIGN_SERVER_DATABSE', 'CODESIGN_SERVER_DATABASE'],
  ['CODESIGN_SERVER_PKCS11_PINFILE', 'CODESIGN_SERVER_PKCS11_PIN_FILE'],
  ['CODESIGN_SERVER_CONF', 'CODESIGN_SERVER_CONFIG'],
])('the mistyped variable %s is an error that names %s and shows no value', (name, nearest) => {
  const read = () => readConfig({}, { [name]: 'a-secret' });
  expect(read).toThrow(expect.objectContaining({ code: 'variable-unknown', exitCode: 2 }));
  expect(read).toThrow(nearest);
  expect(read).not.toThrow(/a-secret/);
});

test('has defaults, also for an empty variable, and accepts what Kubernetes sets for a service of this name', () => {
  const service = { CODESIGN_SERVER_SERVICE_HOST: '10.0.0.1', CODESIGN_SERVER_PORT_8443_TCP_PROTO: 'tcp' };
  const environment = { ...service, XDG_DATA_HOME: '/xdg', CODESIGN_SERVER_PORT: '' };
  expect(readConfig({}, environment)).toMatchObject({
    ...{ host: '127.0.0.1', port: 8443, logLevel: 'info', clientEnv: undefined, tls: undefined },
    ...(process.platform === 'linux' && { dataRoot: '/xdg/codesign-remote-server' }),
  });
});

test('a database of another kind is rejected without showing its address, which may hold a password', async () => {
  const refused = read({}, { CODESIGN_SERVER_DATABASE: 'mysql://user:a-secret@host/name' });
  await expect(refused).rejects.toMatchObject({ code: 'database-address-unknown', exitCode: 2 });
  await expect(refused).rejects.not.toThrow(/a-secret/);
});

test.each([
  ...['', '-1', '65536', '1.5', '8443x', '0x1f', ' 80', '١'].map((port) => ({ port })),
  ...['', 'a b', 'http://x', 'x/y', '-x', 'x..y', '*', 'a:b', `${'a'.repeat(64)}.x`].map((host) => ({ host })),
  { tlsName: ['x..y'] },
  ...['', 'x'.repeat(33), 'ü'].map((pkcs11Token) => ({ pkcs11Token })),
])('rejects the options %j', (options) => {
  expect(() => readConfig(options, {})).toThrow(expect.objectContaining({ code: 'invalid-option', exitCode: 2 }));
});

test.each(['localhost', 'sign.example.com', '10.0.0.1', '::1', 'xn--bcher-kva.example'])(
  'takes the name %s',
  (host) => {
    expect(readConfig({ tlsName: [host], host }, {})).toMatchObject({ tlsNames: [host], host });
  },
);
