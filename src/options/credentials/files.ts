import type { Stats } from 'node:fs';
import { open } from 'node:fs/promises';
import { openToRead, readBeginning, readHandleUpTo } from '../../bytes/read-file.ts';
import { systemReason } from '../../errors/system-reason.ts';
import { Secret } from '../../secrets/secret.ts';
import { settingsErrors, settingsWarnings } from '../errors.ts';
import type { Environment } from '../table.ts';

/** This limit is greater than the size of any certificate chain. */
const READ_LIMIT = 16 * 1024 * 1024;

interface CertificateFiles {
  readonly files: readonly { readonly name: string; readonly bytes: Uint8Array }[];
  readonly password: Secret | undefined;
  readonly warnings: readonly string[];
}

export async function readCertificateFiles(paths: readonly string[], env: Environment): Promise<CertificateFiles> {
  const files = await Promise.all(paths.map(async (name) => ({ name, bytes: await readBounded(name) })));
  return { files, ...(await readPassword(env)) };
}

async function readPassword(env: Environment): Promise<Pick<CertificateFiles, 'password' | 'warnings'>> {
  const password = env.CODESIGN_CERTIFICATE_PASSWORD;
  if (password) return { password: new Secret(password), warnings: [] };
  const path = env.CODESIGN_CERTIFICATE_PASSWORD_FILE;
  if (!path) return { password: undefined, warnings: [] };
  const { text, warnings } = await readSecretFile(path, 'CODESIGN_CERTIFICATE_PASSWORD_FILE');
  return { password: new Secret(text), warnings };
}

async function readBounded(path: string): Promise<Uint8Array> {
  try {
    await using handle = await openToRead(path);
    return await readBeginning(handle, READ_LIMIT);
  } catch (thrown) {
    throw settingsErrors('certificate-file-missing', { path, reason: systemReason(thrown) }, { cause: thrown });
  }
}

/** A secret is one line, so a larger file is certainly the wrong file. */
const LARGEST_SECRET_FILE = 64 * 1024;

const WRITABLE_BY_OTHERS = 0o022;
const READABLE_BY_OTHERS = 0o044;

export async function readSecretFile(path: string, variable: string) {
  const { text, stats } = await readWithStats(path, variable);
  const warnings = process.platform === 'win32' ? [] : checkPermissions(path, stats, variable);
  return { text: secretIn(text), warnings };
}

/** `echo` and editors add one newline, and programs on Windows a byte order mark. Further newlines are part of the secret. */
export function secretIn(text: string): string {
  return text.replace(/^\uFEFF|\r?\n$/g, '');
}

/** Uses one descriptor, because the file at the path may be replaced in between. */
async function readWithStats(path: string, variable: string): Promise<{ text: string; stats: Stats }> {
  try {
    await using file = await open(path, 'r');
    return { stats: await file.stat(), text: (await readHandleUpTo(file, LARGEST_SECRET_FILE)).toString() };
  } catch (cause) {
    throw settingsErrors('secret-file-unreadable', { variable, reason: systemReason(cause) });
  }
}

/** Returns warnings. Throws `secret-file-exposed` if others may write to the file. */
function checkPermissions(path: string, { mode, uid }: Stats, variable: string): readonly string[] {
  if ((mode & WRITABLE_BY_OTHERS) !== 0) {
    throw settingsErrors('secret-file-exposed', { variable, path, problem: 'may be changed by other users' });
  }
  const user = process.getuid?.();
  // Root may read files of other users: a secret mounted into a container belongs to a user outside it.
  if (user !== undefined && user !== 0 && uid !== user && uid !== 0) {
    throw settingsErrors('secret-file-exposed', { variable, path, problem: 'belongs to another user' });
  }
  if ((mode & READABLE_BY_OTHERS) === 0) return [];
  return [settingsWarnings('secret-file-readable', { variable, path })];
}
