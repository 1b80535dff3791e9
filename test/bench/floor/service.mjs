// The two calls of the service with Node's own client, and the check of a signature: what no signing program can do without.
import { verify, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';

const { CODESIGN_BASE_URL, CODESIGN_ACCESS_KEY, CODESIGN_ACCESS_SECRET, CODESIGN_CODE, CODESIGN_CERTIFICATE } =
  process.env;
const { publicKey } = new X509Certificate(readFileSync(CODESIGN_CERTIFICATE));
const token = Buffer.from(`${CODESIGN_ACCESS_KEY}:${CODESIGN_ACCESS_SECRET}`).toString('base64');
export const agent = new Agent({ keepAlive: true, maxSockets: 16 });

/** @param attributes what is signed. @returns the signature, checked, and the id of its record. */
export async function sign(attributes, digest) {
  const message = { code: CODESIGN_CODE, algorithm: 'SHA256', padding: 'PKCS1', digest: digest.toString('base64') };
  const { data } = await call('sign', { ...message, extra: {} });
  const signature = Buffer.from(data.signature, 'base64');
  if (!verify('sha256', attributes, publicKey, signature)) throw new Error('the service signed something else');
  return { signature, id: data.id };
}

export const report = (id) => call('report-sign', { id, status: 1 });

function call(operation, message) {
  const body = Buffer.from(JSON.stringify(message));
  const headers = {
    authorization: `Basic ${token}`,
    'content-type': 'application/json',
    accept: 'application/json',
    'content-length': body.length,
  };
  return new Promise((resolve, reject) => {
    request(`${CODESIGN_BASE_URL}/v1/codesign/${operation}`, { agent, method: 'POST', headers }, (answer) => {
      const chunks = [];
      answer.on('data', (chunk) => chunks.push(chunk));
      answer.on('end', () => resolve(JSON.parse(Buffer.concat(chunks))));
    })
      .on('error', reject)
      .end(body);
  });
}
