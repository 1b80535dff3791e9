import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { authorityName, hsmIssuer, localIssuer, selfSign } from '../certificates/authority.ts';
import { toPem } from '../certificates/x509.ts';
import type { Config } from '../config.ts';
import { ServerError } from '../errors.ts';
import { isThere, replaceFile, syncFolder } from '../files.ts';
import type { RsaBits } from '../keys/pkcs11.ts';
import { createToken, openPkcs11, type TokenOptions } from '../keys/pkcs11.ts';
import { configureSoftHsm, tokenFolder } from '../keys/softhsm.ts';
import type { Operation } from '../records/audit.ts';
import { prepareTables, type TableRights } from '../records/migrations.ts';
import { codeSigningIssuer, issueCodeSigning, type MakingData } from './certificates.ts';
import { type DataFolder, dataFolder, layout } from './data-folder.ts';
import { chooseHsm, openDatabase, TOKEN_LABEL } from './open-data.ts';

/** Number of the first certificate (the `code` field in the API). */
export const FIRST_NUMBER = '1';
const AUTHORITY_BITS: RsaBits = 3072;
const FIRST_BITS: RsaBits = 3072;
const ASIDE = '.codesign-remote-server-setup-';

/**
 * Creates missing data in a temporary folder, and then renames the folder. If two servers start concurrently, the later
 * one uses the data of the earlier one.
 * @param rights permitted changes to the tables of `--database`
 */
export async function makeData(
  config: Config,
  environment: NodeJS.ProcessEnv,
  operation: Operation,
  rights: Exclude<TableRights, 'update'>,
): Promise<DataFolder> {
  const { library, token } = await chooseHsm(config, environment);
  const made = dataFolder(config.dataRoot);
  if (await isThere(made.path)) return made;
  const aside = await makeAside(resolve(config.dataRoot));
  try {
    const folder = layout(aside);
    for (const name of ['certificates', 'tls']) await mkdir(join(aside, name));
    const keys = await openPkcs11(token ?? (await makeToken(folder, library, environment)));
    try {
      const prepare = prepareTables(config.database === undefined ? 'create' : rights);
      const store = await openDatabase(folder, config.database, prepare);
      try {
        await makeAuthority({ store, keys, folder }, operation.at);
        await makeTlsAuthority(folder, operation.at);
        await store.audit.add({ ...operation, command: 'init', target: made.path, details: '' });
      } finally {
        await store.close();
      }
    } finally {
      await keys.close();
    }
    await putInPlace(aside, made);
  } catch (error) {
    await rm(aside, { recursive: true, force: true });
    throw error;
  }
  return made;
}

async function makeAside(root: string): Promise<string> {
  try {
    await mkdir(root, { recursive: true, mode: 0o700 });
    const aside = await mkdtemp(join(root, ASIDE));
    await chmod(aside, 0o700);
    return aside;
  } catch (error) {
    throw new ServerError('data-folder-unusable', { path: root }, error);
  }
}

async function makeToken(folder: DataFolder, library: string, environment: NodeJS.ProcessEnv): Promise<TokenOptions> {
  await mkdir(tokenFolder(folder.path));
  await configureSoftHsm(folder.path, environment);
  const token = { library, label: TOKEN_LABEL, pin: randomBytes(16).toString('hex') };
  await replaceFile(folder.pin, token.pin);
  // The security officer's PIN, which can reset a lost user PIN, is not stored. A backup also contains the user PIN.
  await createToken(token, randomBytes(16).toString('hex'));
  if ((await readdir(tokenFolder(folder.path))).length === 0) {
    throw new ServerError('hsm-failed', {
      operation: 'create a token',
      reason: 'the token is not in the data folder',
    });
  }
  return token;
}

/** Another server may have stored an authority and a certificate in the same database. */
async function makeAuthority(data: MakingData, now: Date): Promise<void> {
  const { store, keys, folder } = data;
  const known = await store.authority.get();
  const isFirst = (await store.certificates.list()).length === 0;
  const [authorityKey, firstKey] = await Promise.all([
    known === undefined ? keys.generate('code-signing-ca', AUTHORITY_BITS) : undefined,
    isFirst ? keys.generate(`certificate-${FIRST_NUMBER}`, FIRST_BITS) : undefined,
  ]);
  if (authorityKey !== undefined) {
    const issuer = hsmIssuer(authorityName('Code Signing'), authorityKey);
    await store.authority.add({ keyId: authorityKey.id, certificate: toPem(await selfSign(issuer, now)) });
  }
  const { issuer, certificate } = await codeSigningIssuer(data);
  await replaceFile(folder.authority, certificate);
  if (firstKey === undefined) return;
  const issued = await issueCodeSigning(issuer, certificate, firstKey, FIRST_NUMBER, 'Code Signing', now);
  // If another server has stored a certificate with this number, the next start writes its chain file.
  if (await store.certificates.add(issued, now)) await replaceFile(folder.certificate(FIRST_NUMBER), issued.chain);
}

/** The TLS authority's key is next to the server's TLS key, because it needs no stronger protection. */
async function makeTlsAuthority({ tls }: DataFolder, now: Date): Promise<void> {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const issuer = localIssuer(authorityName('TLS'), privateKey);
  await replaceFile(tls.ca, toPem(await selfSign(issuer, now)));
  await replaceFile(tls.caKey, privateKey.export({ format: 'pem', type: 'pkcs8' }));
}

async function putInPlace(aside: string, made: DataFolder): Promise<void> {
  try {
    await rename(aside, made.path);
    await syncFolder(dirname(made.path));
  } catch (error) {
    if (!(await isThere(made.path))) throw new ServerError('data-folder-unusable', { path: made.path }, error);
    await rm(aside, { recursive: true, force: true }); // another start finished first
  }
}
