/** Files signed by osslsigncode and jarsigner with throw-away certificates, and what both say of what happens to them. */

import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { jarsignerSign } from '../../system/interop/java/jarsigner.ts';
import { must, run } from '../../system/interop/verifiers.ts';
import { copyOfMadeOnce } from '../made-once.ts';
import { fixture } from '../programs/cli.ts';
import { mainJava, makeTruststore, runJava, STORE_PASSWORD } from '../programs/java.ts';
import { type CertificateRequest, type IssuedCertificate, makePki, toP12 } from './pki.ts';

/** Made once in a run of the tests, and copied for a file of tests, which copies what it changes. */
export async function makeSignedFiles() {
  const folder = await mkdtemp(path.join(tmpdir(), 'codesign-signed-'));
  const inFolder = (name: string): string => path.join(folder, name);
  const pki = makePki('Signed');
  const signed = { exe: inFolder('app.exe'), nested: inFolder('nested.exe'), jar: inFolder('app.jar') };
  await writeFile(inFolder('root.pem'), pki.root.pem);

  const leaf = pki.leaf();
  const signExe = async (by: IssuedCertificate, input: string, output: string, ...more: readonly string[]) => {
    const at = await mkdtemp(inFolder('sign-'));
    const [chain, key] = [path.join(at, 'chain.pem'), path.join(at, 'leaf.key')];
    await writeFile(chain, by.pem + pki.intermediate.pem);
    await writeFile(key, by.privateKey.export({ type: 'pkcs8', format: 'pem' }));
    const who = ['-certs', chain, '-key', key, '-h', 'sha256'];
    await must('osslsigncode', ['sign', ...who, ...more, '-in', input, '-out', output]);
  };
  await copyOfMadeOnce('signed-files', folder, async (made) => {
    const [exe, keystore] = [path.join(made, 'app.exe'), path.join(made, 'signer.p12')];
    await signExe(leaf, fixture('pe/hello.exe'), exe);
    await signExe(leaf, exe, path.join(made, 'nested.exe'), '-nest', '-h', 'sha384');
    await writeFile(keystore, toP12([leaf, pki.intermediate, pki.root], STORE_PASSWORD));
    await jarsignerSign({ keystore, input: fixture('jar/plain.jar'), output: path.join(made, 'app.jar') });
  });

  return {
    ...signed,
    pki,
    /** PE by osslsigncode with another certificate under the same root. */
    signExe: (request: Partial<CertificateRequest>, output: string) =>
      signExe(pki.leaf(request), fixture('pe/hello.exe'), output),
    /** What osslsigncode says; `timestampRoot` is PEM. */
    async osslsigncode(file: string, timestampRoot?: string) {
      await writeFile(inFolder('tsa.pem'), timestampRoot ?? pki.root.pem);
      const roots = ['-CAfile', inFolder('root.pem'), '-TSA-CAfile', inFolder('tsa.pem')];
      return run('osslsigncode', ['verify', ...roots, '-in', file]);
    },
    /** What `jarsigner -verify -strict -verbose -certs` says. */
    async jarsigner(file: string, timestampRoot = '') {
      const own = await mkdtemp(inFolder('trust-'));
      const store = makeTruststore(pki.root.pem + timestampRoot, own);
      const trust = ['-keystore', store, '-storepass', STORE_PASSWORD];
      return runJava(mainJava(), 'jarsigner', ['-verify', '-strict', '-verbose', '-certs', ...trust, file]);
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  };
}

/** A copy in the folder. @returns its path */
export async function copyInto(folder: string, file: string, name = path.basename(file)): Promise<string> {
  const copy = path.join(folder, name);
  await copyFile(file, copy);
  return copy;
}
