import { expect, test } from 'vitest';
import { readConfig } from '../../src/config.ts';

test('has defaults, also for a variable that is empty', () => {
  expect(readConfig({}, { XDG_DATA_HOME: '/xdg', CODESIGN_SERVER_PORT: '' })).toMatchObject({
    host: '127.0.0.1',
    port: 8443,
    logLevel: 'info',
    clientEnv: undefined,
    tls: undefined,
  });
});

test.skipIf(process.platform !== 'linux')('keeps data where the platform keeps data', () => {
  expect(readConfig({}, { XDG_DATA_HOME: '/xdg' }).dataRoot).toBe('/xdg/codesign-remote-server');
});

test.each(['', '-1', '65536', '1.5', '8443x', '0x1f', ' 80', '١'])('the port %j is rejected', (port) => {
  expect(() => readConfig({ port }, {})).toThrow(expect.objectContaining({ code: 'invalid-option', exitCode: 2 }));
});

test.each(['', 'a b', 'http://x', 'x/y', '-x', 'x..y', '*', 'a:b', `${'a'.repeat(64)}.x`])(
  'the name %j is rejected',
  (name) => {
    expect(() => readConfig({ tlsName: [name] }, {})).toThrow(expect.objectContaining({ code: 'invalid-option' }));
    expect(() => readConfig({ host: name }, {})).toThrow(expect.objectContaining({ code: 'invalid-option' }));
  },
);

test.each(['localhost', 'sign.example.com', '10.0.0.1', '::1', 'xn--bcher-kva.example'])(
  'the name %s is taken',
  (name) => {
    expect(readConfig({ tlsName: [name], host: name }, {}).tlsNames).toEqual([name]);
  },
);
