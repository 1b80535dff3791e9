/** The credentials from the environment: access key, and access secret as a value or in a file that is the user's own. */

import type { Stats } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { Secret } from '../secrets/secret.ts';
import { settingsErrors } from './errors.ts';
import type { Environment } from './options.ts';

export interface Credentials {
  readonly accessKey: string;
  readonly accessSecret: Secret;
  /** Whole sentences. */
  readonly warnings: readonly string[];
}

const KEY = 'CODESIGN_ACCESS_KEY';
const SECRET = 'CODESIGN_ACCESS_SECRET';
const SECRET_FILE = 'CODESIGN_ACCESS_SECRET_FILE';

/** RFC 7617, section 2: neither user name nor password may hold control characters. */
const CONTROL = /\p{Cc}/u;
/** A secret is a line; what is larger is the wrong file. */
const LARGEST_SECRET_FILE = 64 * 1024;

/** Permission bits of group and others. */
const WRITABLE_BY_OTHERS = 0o022;
const READABLE_BY_OTHERS = 0o044;

/**
 * Reads CODESIGN_ACCESS_KEY with CODESIGN_ACCESS_SECRET or CODESIGN_ACCESS_SECRET_FILE. An empty variable counts as
 * absent. Throws `credentials-missing`, `credentials-ambiguous`, `access-key-invalid`, `access-secret-invalid`,
 * `secret-file-unreadable` or `secret-file-exposed`.
 */
export async function readCredentials(environment: Environment): Promise<Credentials> {
  const accessKey = environment[KEY] ?? '';
  const value = environment[SECRET] ?? '';
  const path = environment[SECRET_FILE] ?? '';
  const missing = [...(accessKey ? [] : [KEY]), ...(value || path ? [] : [SECRET])];
  if (missing.length > 0) {
    const what = missing.length === 1 ? `${missing[0]} is` : `${missing.join(' and ')} are`;
    throw settingsErrors('credentials-missing', { missing: what });
  }
  if (value !== '' && path !== '') throw settingsErrors('credentials-ambiguous');
  checkAccessKey(accessKey);
  const { text, warnings } = path === '' ? { text: value, warnings: [] } : await readSecretFile(path);
  checkAccessSecret(text, path === '' ? SECRET : SECRET_FILE);
  return { accessKey, accessSecret: new Secret(text), warnings };
}

function checkAccessKey(accessKey: string): void {
  if (accessKey.includes(':')) throw settingsErrors('access-key-invalid', { problem: 'has a colon in it' });
  if (CONTROL.test(accessKey)) throw settingsErrors('access-key-invalid', { problem: 'has a control character in it' });
}

function checkAccessSecret(text: string, source: string): void {
  if (text === '') throw settingsErrors('access-secret-invalid', { source, problem: 'is empty' });
  if (CONTROL.test(text)) {
    throw settingsErrors('access-secret-invalid', { source, problem: 'has a line break or control character in it' });
  }
}

interface SecretFile {
  readonly text: string;
  readonly warnings: readonly string[];
}

async function readSecretFile(path: string): Promise<SecretFile> {
  const { text, stats } = await readWithStats(path);
  // Windows knows no such bits: what Node shows there says nothing about who may write.
  const warnings = process.platform === 'win32' ? [] : judgePermissions(path, stats);
  // One newline, as `echo` and editors leave it; any other is part of the secret, and refused as such.
  return { text: text.replace(/\r?\n$/, ''), warnings };
}

/** Permissions and content of the same open file: between two look-ups by path it could be another. */
async function readWithStats(path: string): Promise<{ text: string; stats: Stats }> {
  try {
    const file = await open(path, 'r');
    try {
      return { stats: await file.stat(), text: await readBounded(file) };
    } finally {
      await file.close();
    }
  } catch (cause) {
    const reason = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown reason';
    throw settingsErrors('secret-file-unreadable', { path, reason }, { cause });
  }
}

async function readBounded(file: FileHandle): Promise<string> {
  const buffer = Buffer.alloc(LARGEST_SECRET_FILE + 1);
  let length = 0;
  for (let read = -1; read !== 0 && length < buffer.length; length += read) {
    read = (await file.read(buffer, length, buffer.length - length, null)).bytesRead;
  }
  if (length > LARGEST_SECRET_FILE) throw Object.assign(new Error('too large for a secret'), { code: 'EFBIG' });
  return buffer.toString('utf8', 0, length);
}

/** Warnings; throws `secret-file-exposed` when anyone but this user and root may write the file. */
function judgePermissions(path: string, { mode, uid }: Stats): readonly string[] {
  if ((mode & WRITABLE_BY_OTHERS) !== 0) {
    throw settingsErrors('secret-file-exposed', { path, problem: 'may be written by other users' });
  }
  const user = process.getuid?.();
  // Root reads files of the users it works for: a secret mounted into a container belongs to someone outside.
  if (user !== undefined && user !== 0 && uid !== user && uid !== 0) {
    throw settingsErrors('secret-file-exposed', { path, problem: 'belongs to another user' });
  }
  if ((mode & READABLE_BY_OTHERS) === 0) return [];
  return [`The file of the access secret, ${path}, may be read by other users: chmod 600 makes it private.`];
}
