/** What a user says: options, environment variables, and the files that hold secrets and certificates. */

import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readCredentials } from '../../../src/options/credentials/credentials.ts';
import { readCertificateFiles } from '../../../src/options/credentials/files.ts';
import type { Keychain } from '../../../src/options/credentials/keychain.ts';
import { resolve, resolveSigning } from '../../../src/options/resolve.ts';
import type { SettingsOptions, VerifyOptions } from '../../../src/options/table.ts';
import { Secret } from '../../../src/secrets/secret.ts';
import { answering, require } from '../check-case.ts';
import { mutateBytes } from '../mutations/bytes.ts';
import { ODD_TEXTS } from '../mutations/json.ts';
import { once, pick, type Random } from '../mutations/random.ts';
import { inFolderOfItsOwn, type TargetDefinition } from '../target.ts';

interface Said {
  readonly options: Readonly<Record<string, string | boolean | readonly string[]>>;
  readonly env: Readonly<Record<string, string>>;
  readonly secret: string;
  readonly mode: number;
}

const SECRET = 's3cret-of-the-user';
const OPTIONS: Said['options'] = {
  baseUrl: 'https://example.com/a',
  code: 'C-1',
  certificate: ['chain.pem'],
  algorithm: 'SHA256',
  timestampUrl: ['http://timestamp.example.com'],
  timestampAlgorithm: 'SHA256',
  timestampPolicy: '1.2.3',
  description: 'A program',
  url: 'https://example.com',
  signerName: 'NAME',
  output: 'out',
  concurrency: '4',
  timeout: '30',
  maxSignatures: '10',
  repeatUnknown: '2',
  fileName: 'send',
  extra: ['hostname=build-1'],
  caFile: 'ca.pem',
  roots: 'roots.pem',
  signer: 'Example',
  algorithmAtLeast: 'SHA256',
};
const FLAGS = ['replace', 'append', 'skipSigned', 'dryRun', 'timestamp', 'integrityOnly', 'checkRevocation', 'journal'];
const ENVIRONMENT: Said['env'] = {
  CODESIGN_BASE_URL: 'https://example.com',
  CODESIGN_CODE: 'C-1',
  CODESIGN_ACCESS_KEY: 'key',
  CODESIGN_ACCESS_SECRET: SECRET,
  CODESIGN_TIMESTAMP_URL: 'http://a.example http://b.example',
  CODESIGN_CONCURRENCY: '2',
  CODESIGN_TIMEOUT: '1.5',
  CODESIGN_FILE_NAME: 'hide',
  CODESIGN_CERTIFICATE: 'chain.pem',
  CODESIGN_CERTIFICATE_PASSWORD: 'pw',
  CODESIGN_MAX_SIGNATURES: '5',
  CODESIGN_ALGORITHM: 'SHA512',
};

export const settingsTarget: TargetDefinition = {
  share: 10_000,
  open: async ({ folder }) => ({
    make: (random) => Buffer.from(JSON.stringify(makeSaid(random))),
    run: (input) =>
      inFolderOfItsOwn(folder, (place) => check(place, JSON.parse(Buffer.from(input).toString()) as Said)),
  }),
};

function makeSaid(random: Random): Said {
  const options: Record<string, string | boolean | readonly string[]> = {};
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(OPTIONS)) {
    if (!once(random, 3)) continue;
    options[name] = Array.isArray(value) ? [oddly(String(value[0]), random)] : oddly(String(value), random);
  }
  for (const flag of FLAGS) if (once(random, 8)) options[flag] = once(random, 2);
  for (const [name, value] of Object.entries(ENVIRONMENT)) if (!once(random, 3)) env[name] = oddly(value, random);
  // Whole, so that it is known what must not be shown.
  if (once(random, 2)) env.CODESIGN_ACCESS_SECRET = SECRET;
  if (once(random, 2)) {
    delete env.CODESIGN_ACCESS_SECRET;
    env.CODESIGN_ACCESS_SECRET_FILE = 'file';
  }
  const file = Buffer.from(once(random, 20) ? 'x'.repeat(random(100_000)) : `${SECRET}\n`);
  const secret = (once(random, 2) ? file : mutateBytes(file, random)).toString('base64');
  return { options, env, secret, mode: pick(random, [0o600, 0o600, 0o644, 0o666, 0o400]) };
}

function oddly(value: string, random: Random): string {
  switch (random(4)) {
    case 0:
      return pick(random, ODD_TEXTS);
    case 1: {
      const at = random(value.length + 1);
      return value.slice(0, at) + pick(random, ODD_TEXTS).slice(0, 1 + random(40)) + value.slice(at);
    }
    default:
      return value;
  }
}

/** An entry as another user could have left it there. */
function keychainWith(secret: string): Keychain {
  return {
    read: async () => new Secret(Buffer.from(secret, 'base64').toString()),
    write: async () => undefined,
    remove: async () => true,
  };
}

async function check(folder: string, { options, env: said, secret, mode }: Said): Promise<string> {
  const path = join(folder, 'secret');
  await writeFile(path, Buffer.from(secret, 'base64'));
  await chmod(path, mode);
  const env = {
    ...said,
    ...(said.CODESIGN_ACCESS_SECRET_FILE === 'file' ? { CODESIGN_ACCESS_SECRET_FILE: path } : {}),
  };
  const typed = options as SettingsOptions & VerifyOptions;
  const answers = [
    await answering(() => resolveSigning(typed, env)),
    await answering(() => resolve('verify', typed, {})),
    await answering(() => resolve('timestamp', typed, env)),
    await answering(() => resolve('resume', typed, env)),
    await answering(() =>
      readCredentials({
        env,
        origin: 'https://example.com',
        account: { profile: 'default', environment: 'production' },
        keychain: keychainWith(secret),
        file: path,
      }),
    ),
    await answering(() => readCertificateFiles([path, ...(typed.certificate ?? [])], env)),
  ];
  for (const answer of answers) {
    if (!('code' in answer)) continue;
    const { message, hint = '' } = answer.error;
    require(!`${message} ${hint}`.includes(SECRET), 'the secret is in the error');
  }
  const [settings, , , , credentials] = answers.map((answer) => ('code' in answer ? answer.code : 'good'));
  return `${settings}, ${credentials}`;
}
