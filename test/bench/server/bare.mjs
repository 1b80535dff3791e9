// The bare HSM: `node bare.mjs`, settings as JSON on standard input; signs on every session concurrently and prints how many a second.
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import pkcs11 from 'pkcs11js';

/** The DigestInfo of a SHA-256 without the digest (RFC 8017, 9.2). */
const DIGEST_INFO = Buffer.from('3031300d060960864801650304020105000420', 'hex');

const { library, label, pinFile, certificate, sessions, warm, seconds } = JSON.parse(await text(process.stdin));
const { publicKey } = new X509Certificate(readFileSync(certificate));
const modulus = Buffer.from(publicKey.export({ format: 'jwk' }).n, 'base64url');
const module = new pkcs11.PKCS11();
module.load(library);
module.C_Initialize({ flags: pkcs11.CKF_OS_LOCKING_OK });
const slot = module.C_GetSlotList(true).find((each) => module.C_GetTokenInfo(each).label.trimEnd() === label);
const open = Array.from({ length: sessions }, () => module.C_OpenSession(slot, pkcs11.CKF_SERIAL_SESSION));
module.C_Login(open[0], pkcs11.CKU_USER, readFileSync(pinFile, 'utf8').trimEnd());
module.C_FindObjectsInit(open[0], [
  { type: pkcs11.CKA_CLASS, value: pkcs11.CKO_PRIVATE_KEY },
  { type: pkcs11.CKA_MODULUS, value: modulus },
]);
const [key] = module.C_FindObjects(open[0], 1);
module.C_FindObjectsFinal(open[0]);

const toBeSigned = Buffer.concat([DIGEST_INFO, Buffer.alloc(32, 7)]);
const started = performance.now();
const from = started + warm * 1000;
const to = from + seconds * 1000;
let signed = 0;
await Promise.all(
  open.map(async (session) => {
    for (let now = started; now < to; ) {
      module.C_SignInit(session, { mechanism: pkcs11.CKM_RSA_PKCS }, key);
      await module.C_SignAsync(session, toBeSigned, Buffer.alloc(modulus.length));
      now = performance.now();
      if (now >= from && now < to) signed += 1;
    }
  }),
);
module.C_Finalize();
console.log(JSON.stringify({ rate: signed / seconds }));
