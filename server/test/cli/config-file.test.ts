import { writeFile } from 'node:fs/promises';
import { beforeEach, expect, test } from 'vitest';
import { folderForEach } from '../../../test/support/set-up.ts';
import { readConfig } from '../../src/config.ts';

const folder = folderForEach();
let path: string;
beforeEach(async () => {
  path = folder.at('server.json');
});

const read = async (settings: unknown, environment: NodeJS.ProcessEnv = {}, options = {}) => {
  await writeFile(path, typeof settings === 'string' ? settings : JSON.stringify(settings));
  return readConfig({ config: path, ...options }, environment);
};

const FULL = {
  data: 'data',
  host: '0.0.0.0',
  port: 1234,
  proxy: ['10.0.0.5', '2001:db8::/32'],
  database: 'postgres://file@host/name',
  tls: { certificate: 'tls/cert.pem', key: '/tls/key.pem', names: ['sign.example.com'] },
  logLevel: 'warn',
  pkcs11: { library: '/lib/file.so', token: 'release', pinFile: 'pin', sessions: 3 },
  limits: { waiting: 7 },
};

test('accepts every setting in the file, with relative paths from its folder', async () => {
  expect(await read(FULL)).toEqual({
    dataRoot: folder.at('data'),
    database: 'postgres://file@host/name',
    pkcs11Library: '/lib/file.so',
    pkcs11Token: 'release',
    pkcs11PinFile: folder.at('pin'),
    pkcs11Sessions: 3,
    host: '0.0.0.0',
    port: 1234,
    proxy: ['10.0.0.5', '2001:db8::/32'],
    clientEnv: undefined,
    tls: { certificate: folder.at('tls/cert.pem'), key: '/tls/key.pem' },
    tlsNames: ['sign.example.com'],
    logLevel: 'warn',
    waiting: 7,
  });
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
    dataRoot: '/environment',
    port: 99,
    database: 'postgresql://environment@host/name',
    pkcs11Token: 'environment',
    pkcs11PinFile: '/environment/pin',
    pkcs11Library: '/lib/file.so',
  });
  const options = { port: '1', database: 'postgres://option@host/name', tlsCert: 'a', tlsKey: 'b' };
  expect(await read(FULL, environment, options)).toMatchObject({
    port: 1,
    database: 'postgres://option@host/name',
    tls: { certificate: 'a', key: 'b' },
  });
  await read(FULL);
  expect(readConfig({}, { CODESIGN_SERVER_CONFIG: path }).port).toBe(1234);
});

test.each([
  ['the whole is not JSON', '{'],
  ['the whole is not JSON', '{ "database": "postgres://user:a-secret@host/name", x }'],
  ['the whole is not an object', []],
  ['port is not a whole number from 0 to 65535', { port: '8443x' }],
  ['port is not a whole number from 0 to 65535', { port: 65_536 }],
  ['colour is not a setting', { colour: 'red' }],
  ['databse is not a setting; the nearest is database', { databse: 'postgres://user:a-secret@host/name' }],
  ['tls.certificat is not a setting; the nearest is tls.certificate', { tls: { certificat: 'x' } }],
  ['pcks11.token is not a setting; the nearest is pkcs11.token', { pcks11: { token: 'x' } }],
  ['pkcs11.sessions is not a whole number from 1 to 1024', { pkcs11: { sessions: 0 } }],
  ['pkcs11.pin is not a setting; the nearest is pkcs11.pinFile', { pkcs11: { pin: '1234' } }],
  ['pkcs11 is not a setting', { pkcs11: 'softhsm' }],
  ['tls.names is not a list', { tls: { names: 'a' } }],
  ['tls.names.1 is not a DNS name or an IP address', { tls: { names: ['a', 7] } }],
  ['proxy is not a list', { proxy: '10.0.0.5' }],
  ['proxy.0 is not an IP address, or a network such as 10.0.0.0/8', { proxy: ['proxy.example'] }],
  ['tsa is not a setting', { tsa: true }],
  ['logLevel is not one of fatal, error,', { logLevel: 'loud' }],
  ['limits.waiting is not a whole number from 0 to 100000', { limits: { waiting: 0.5 } }],
  ['data is not a non-empty string', { data: '' }],
  ['database is not an address that begins with postgres://', { database: 'mysql://user:a-secret@host/name' }],
])('reports the key’s path: %s', async (said, settings) => {
  await expect(read(settings)).rejects.toMatchObject({
    code: 'config-invalid',
    exitCode: 2,
    message: expect.stringContaining(`${path}, ${said}`),
  });
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

test('accepts variables that Kubernetes sets for a service of this name', () => {
  const environment = { CODESIGN_SERVER_SERVICE_HOST: '10.0.0.1', CODESIGN_SERVER_PORT_8443_TCP_PROTO: 'tcp' };
  expect(readConfig({}, environment)).toMatchObject({ host: '127.0.0.1', port: 8443 });
});

test('a database of another kind is rejected without showing its address, which may hold a password', async () => {
  const refused = read({}, { CODESIGN_SERVER_DATABASE: 'mysql://user:a-secret@host/name' });
  await expect(refused).rejects.toMatchObject({ code: 'database-address-unknown', exitCode: 2 });
  await expect(refused).rejects.not.toThrow(/a-secret/);
});

test.each(['', 'x'.repeat(33), 'ü'])('the label %j of a token is rejected', async (pkcs11Token) => {
  await expect(read({}, {}, { pkcs11Token })).rejects.toMatchObject({ code: 'invalid-option' });
});

test.each(['10.0.0.5:443', '10.0.0.0/0', '10.0.0.0/33', '::/129', '::1/', '10.0.0.0/8/8', 'fe80::1%eth0', ''])(
  'the proxy %j is rejected',
  async (proxy) => {
    await expect(read({ proxy: [proxy] })).rejects.toMatchObject({ code: 'config-invalid' });
  },
);
