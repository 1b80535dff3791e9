/** Certificates, the files they come in, and what is said of their revocation. */

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buildPath } from '../../../src/certificates/build-path.ts';
import { type ParsedCertificate, parseCertificate } from '../../../src/certificates/certificate.ts';
import { examinePath } from '../../../src/certificates/examine-path.ts';
import { isLifetimeSigner, purposeProblem } from '../../../src/certificates/purpose.ts';
import { findInCrl, readCrls } from '../../../src/certificates/revocation/crl.ts';
import { buildOcspRequest, statusByOcsp } from '../../../src/certificates/revocation/ocsp.ts';
import { crlAddressesOf, ocspAddressesOf } from '../../../src/certificates/revocation/sources.ts';
import { statusByCrl } from '../../../src/certificates/revocation/status.ts';
import { readSigningChain } from '../../../src/certificates/signing-chain.ts';
import { loadRoots } from '../../../src/http/roots.ts';
import { Secret } from '../../../src/secrets/secret.ts';
import { inspectCertificates } from '../../../src/verifying/inspect-certificates.ts';
import { loadTrustRoots } from '../../../src/verifying/roots.ts';
import { P12_PASSWORD } from '../bases.ts';
import { answering, require, requireSaid, wordFor } from '../check-case.ts';
import { mutateBytes } from '../mutations/bytes.ts';
import { mutateDer } from '../mutations/der.ts';
import { mutateLines } from '../mutations/lines.ts';
import { once, pick, type Random } from '../mutations/random.ts';
import type { TargetDefinition } from '../target.ts';

const NOW = new Date('2026-06-01T00:00:00Z');

export const certificateTarget: TargetDefinition = {
  share: 13_000,
  async open({ bases, folder }) {
    const path = join(folder, 'certificates');
    const files = bases.all(['golden', 'fuzz'], ['leaf.der', 'issuer.der', '.pem', '.p7b', '.p12']);
    const [issuer, leaf] = ['issuer', 'leaf'].map((name) => {
      return parseCertificate(bases.read(`fuzz/base-${name}.der`), name);
    }) as [ParsedCertificate, ParsedCertificate];
    const password = new Secret(P12_PASSWORD);
    return {
      make: (random) => mutateContainer(pick(random, files), random),
      run: async (input) => {
        const inputs = [{ name: 'file', bytes: input }];
        const word = await wordFor(() => readSigningChain(inputs, { now: NOW, password, purposes: [] }));
        await writeFile(path, input);
        await answering(() => loadTrustRoots({ files: [path], environment: {} }));
        await answering(() => loadRoots(path, {}));
        const parsed = await answering(() => parseCertificate(input, 'file'));
        if ('code' in parsed) return word;
        return `${word}, ${await checkAsPath(parsed.value, issuer, leaf)}`;
      },
    };
  },
};

/** PEM is changed as text, and as what is in it. */
function mutateContainer(file: Buffer, random: Random): Buffer {
  const text = file.toString('latin1');
  if (!text.startsWith('-----BEGIN')) return mutateDer(file, random);
  if (once(random, 3)) return mutateLines(file, random);
  if (once(random, 10)) return Buffer.from(`\ufeff${text}`, once(random, 2) ? 'utf16le' : 'utf8');
  const blocks = text.split(/(?<=-----END [A-Z0-9 ]+-----\r?\n)/);
  const at = random(blocks.length);
  const changed = (blocks[at] ?? '').replace(/(-----BEGIN [^-]+-----)([^-]+)/, (_, begin: string, body: string) => {
    const der = Buffer.from(body, 'base64');
    return `${begin}\n${(once(random, 4) ? mutateBytes(der, random) : mutateDer(der, random)).toString('base64')}\n`;
  });
  return Buffer.from(blocks.with(at, changed).join(''), 'latin1');
}

async function checkAsPath(
  odd: ParsedCertificate,
  issuer: ParsedCertificate,
  leaf: ParsedCertificate,
): Promise<string> {
  inspectCertificates([odd.der, issuer.der], [odd.der]);
  await wordFor(() => purposeProblem(odd.fields, 'code-signing'));
  await wordFor(() => isLifetimeSigner(odd.fields));
  const requested = await answering(() => buildOcspRequest(odd, issuer));
  await wordFor(() => [ocspAddressesOf(odd.fields), crlAddressesOf(odd.fields)]);
  for (const [first, pool, anchors] of [
    [odd, [issuer], [issuer]],
    [leaf, [odd], [issuer]],
    [leaf, [issuer], [odd]],
  ] as const) {
    const { certificates, findings } = buildPath(first, pool, anchors, NOW, 'code-signing');
    for (const { message, code } of findings) requireSaid(message, code);
    examinePath({ certificates, isAnchored: false, at: NOW, purpose: 'time-stamping' });
  }
  const checked = examinePath({
    certificates: [leaf, odd, issuer],
    isAnchored: true,
    at: NOW,
    purpose: 'code-signing',
  });
  for (const { message, code } of checked) requireSaid(message, code);
  return 'code' in requested ? requested.code : 'read';
}

export const revocationTarget: TargetDefinition = {
  share: 13_000,
  async open({ bases }) {
    const lists = ['revoked.crl', 'good.ocsp'].map((name) => bases.read(`fuzz/base-${name}`));
    const leaf = parseCertificate(bases.read('fuzz/base-leaf.der'), 'leaf');
    const issuer = parseCertificate(bases.read('fuzz/base-issuer.der'), 'issuer');
    return {
      make: (random) => mutateDer(pick(random, lists), random),
      run: async (input) => {
        const isOriginal = lists.some((list) => list.equals(input));
        const answer = statusByOcsp(input, leaf, issuer, NOW);
        if (answer.kind === 'unknown') requireSaid(answer.why, 'OCSP response');
        const crls = readCrls(input);
        if (typeof crls === 'string') return `${answer.kind}, ${crls.slice(0, 24)}`;
        const kinds = crls.map((crl) => {
          const checked = statusByCrl(crl, leaf, issuer, NOW);
          require(checked.kind !== 'good' || isOriginal, 'an unsigned list calls the certificate good');
          return statusByCrl({ ...crl, isSignedBy: () => true }, leaf, issuer, NOW).kind;
        });
        for (const crl of crls) await wordFor(() => findInCrl(crl, { ...leaf, ...leaf.fields }));
        return `${answer.kind}, ${kinds[0]}`;
      },
    };
  },
};
