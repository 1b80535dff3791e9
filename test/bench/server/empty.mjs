// The server's application with nothing behind it: `empty.mjs`, bundled by running.mjs; a ready signature, and a store that keeps nothing.
import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { buildServer } from '../../../server/src/http/app.ts';
import { digestOfSecret } from '../../../server/src/http/auth.ts';

const { tls, accessKey, accessSecret, bits } = JSON.parse(await text(process.stdin));
const client = {
  ...{ id: 'client', accessKey, secretDigest: digestOfSecret(Buffer.from(accessSecret)), name: undefined },
  ...{ signatures: 0, disabled: false, createdAt: new Date(0) },
  ...{ certificates: undefined, algorithms: undefined, quota: undefined, expiresAt: undefined },
};
const certificates = new Map(
  bits.map((each) => {
    const number = `rsa-${each}`;
    return [number, { number, keyId: number, chain: '', notBefore: new Date(0), notAfter: new Date(8.64e15) }];
  }),
);
const keys = new Map(
  bits.map((each) => {
    const signature = Buffer.alloc(each / 8, 7);
    return [`rsa-${each}`, { id: `rsa-${each}`, sign: async () => signature }];
  }),
);
const app = buildServer({
  store: {
    clients: { findByAccessKey: async (given) => (given === accessKey ? client : undefined) },
    certificates: { find: async (number) => certificates.get(number) },
    counting: { add: async () => true, isFailing: () => false, takeBack: async () => {} },
    check: async () => {},
  },
  keys: { find: async (id) => keys.get(id), check: async () => {} },
  tls: { certificate: readFileSync(tls, 'utf8'), key: readFileSync(tls, 'utf8') },
  now: () => new Date(),
  ...{ sessions: 64, threads: 4, waiting: 256, connections: 4096, proxy: [] },
  log: { level: 'info', stream: process.stderr },
});
await app.listen({ host: '127.0.0.1', port: 0 });
console.log(`listening on https://127.0.0.1:${app.server.address().port}`);
process.once('SIGTERM', () => app.close());
