// The signing service without its HSM: real signatures with a key in memory, after a wait that the path names (/50/v1/…).
import { constants, createPrivateKey, privateEncrypt, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

const key = createPrivateKey(readFileSync(process.argv[2]));

/** Precedes a SHA-256 digest in a signature by PKCS #1 v1.5 (RFC 8017, section 9.2). */
const DIGEST_INFO = Buffer.from('3031300d060960864801650304020105000420', 'hex');

function signatureOf({ digest }) {
  const info = Buffer.concat([DIGEST_INFO, Buffer.from(digest, 'base64')]);
  return privateEncrypt({ key, padding: constants.RSA_PKCS1_PADDING }, info).toString('base64');
}

const server = createServer({ keepAliveTimeout: 60_000 }, async (request, response) => {
  const [, wait, operation] = /^\/(\d+)\/v1\/codesign\/([a-z-]+)$/.exec(request.url) ?? [];
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  if (Number(wait) > 0) await sleep(Number(wait));
  const message = JSON.parse(Buffer.concat(chunks));
  const data = operation === 'sign' ? { id: randomUUID(), signature: signatureOf(message) } : null;
  const body = JSON.stringify({ code: 0, message: 'success', data });
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }).end(body);
});
server.listen(0, '127.0.0.1', () => console.log(`listening on ${server.address().port}`));
process.once('SIGTERM', () => process.exit(0));
