// The signing service without its HSM: real signatures with keys in memory, over TLS, after a wait that the path names (/rsa-3072/50).
import { constants, createPrivateKey, privateEncrypt, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';

const [, , tlsKey, tlsCertificate, ...keyFiles] = process.argv;
const keys = new Map(keyFiles.map((file) => [/(rsa-\d+)\.key$/.exec(file)[1], createPrivateKey(readFileSync(file))]));

/** What stands before the digest in a signature by PKCS #1 v1.5 (RFC 8017, section 9.2). */
const DIGEST_INFO = {
  SHA256: Buffer.from('3031300d060960864801650304020105000420', 'hex'),
  SHA384: Buffer.from('3041300d060960864801650304020205000430', 'hex'),
  SHA512: Buffer.from('3051300d060960864801650304020305000440', 'hex'),
};

function signatureOf(key, { algorithm, digest }) {
  const info = Buffer.concat([DIGEST_INFO[algorithm], Buffer.from(digest, 'base64')]);
  return privateEncrypt({ key, padding: constants.RSA_PKCS1_PADDING }, info).toString('base64');
}

const server = createServer(
  { key: readFileSync(tlsKey), cert: readFileSync(tlsCertificate), keepAliveTimeout: 5000 },
  async (request, response) => {
    const [, name, wait, operation] = /^\/([^/]+)\/(\d+)\/v1\/codesign\/([a-z-]+)$/.exec(request.url) ?? [];
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    if (Number(wait) > 0) await sleep(Number(wait));
    const message = JSON.parse(Buffer.concat(chunks));
    const data = operation === 'sign' ? { id: randomUUID(), signature: signatureOf(keys.get(name), message) } : null;
    const body = JSON.stringify({ code: 0, message: 'success', data });
    response
      .writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
      .end(body);
  },
);
server.listen(0, '127.0.0.1', () => console.log(`listening on ${server.address().port}`));
process.once('SIGTERM', () => process.exit(0));
