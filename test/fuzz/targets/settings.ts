/** Settings of a user: options, environment variables, secret files, certificate files, the project file and profiles. */

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readCredentials } from '../../../src/options/credentials/credentials.ts';
import { readCertificateFiles } from '../../../src/options/credentials/files.ts';
import { PROJECT_FILE } from '../../../src/options/lookup.ts';
import { resolve, resolveSigning } from '../../../src/options/resolve.ts';
import { openProfiles, profilesPath } from '../../../src/options/stored/profiles.ts';
import { readProjectFile } from '../../../src/options/stored/project-file.ts';
import type { SettingsOptions, VerifyOptions } from '../../../src/options/table.ts';
import { Secret } from '../../../src/secrets/secret.ts';
import { answering, require } from '../check-case.ts';
import { mutateBytes } from '../mutations/bytes.ts';
import { mutateJson, mutateValue, ODD_TEXTS } from '../mutations/json.ts';
import { once, pick, type Random } from '../mutations/random.ts';
import { inFolderOfItsOwn, type TargetDefinition } from '../target.ts';

type Texts = Readonly<Record<string, string>>;

interface Said {
  readonly options: Readonly<Record<string, string | boolean | readonly string[]>>;
  readonly env: Texts;
  /** Files in Base64, by their names: `secret`, `project` and `profiles`. */
  readonly files: Texts;
  readonly mode: number;
}

const SECRET = 's3cret-of-the-user';
/** The stored form. Options and variables give these settings as text. */
const SHARED = {
  algorithm: 'SHA512',
  timestampUrl: ['http://a.example', 'http://b.example'],
  timestampAlgorithm: 'SHA256',
  timestampPolicy: '1.2.3',
  description: 'A program',
  url: 'https://example.com',
  signerName: 'NAME',
  concurrency: 3,
  timeout: 12.5,
  maxSignatures: 7,
  repeatUnknown: 2,
};
const OPTIONS: Readonly<Record<string, string | number | readonly string[]>> = {
  ...SHARED,
  baseUrl: 'https://example.com/a',
  code: 'C-1',
  certificate: ['chain.pem'],
  output: 'out',
  fileName: 'send',
  extra: ['hostname=build-1'],
  caFile: 'ca.pem',
  roots: 'roots.pem',
  signer: 'Example',
  algorithmAtLeast: 'SHA256',
};
const FLAGS = ['replace', 'append', 'skipSigned', 'dryRun', 'timestamp', 'integrityOnly', 'checkRevocation', 'journal'];
const ENVIRONMENT: Texts = {
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
const PROJECT = { $schema: 'x', output: 'out', ...SHARED };
const PROFILE = {
  environment: 'staging',
  environments: { staging: 'https://staging.example', production: 'https://example.com/a' },
  code: 'C-1',
  certificate: ['/chain.pem'],
  fileName: 'hide',
  extra: { hostname: '', signing_filesize: 1 },
  caFile: '/ca.pem',
  ...SHARED,
};
/** Keys that must not be stored. */
const ODD_KEYS = ['accessSecret', 'baseUrl', 'profile', 'CODESIGN_CODE', '--code', 'base-url', 'toString', ''];

export const settingsTarget: TargetDefinition = {
  share: 12_000,
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
  const files: Record<string, string> = {
    secret: (once(random, 2) ? file : mutateBytes(file, random)).toString('base64'),
  };
  if (once(random, 2)) files.project = stored(PROJECT, random, (project) => project);
  if (once(random, 2)) files.profiles = stored(PROFILE, random, (profile) => ({ profiles: { default: profile } }));
  return { options, env, files, mode: pick(random, [0o600, 0o600, 0o644, 0o666, 0o400]) };
}

/** In the file that `place` makes of it. */
function stored(value: object, random: Random, place: (value: unknown) => unknown): string {
  const odd = once(random, 4) ? { ...value, [pick(random, ODD_KEYS)]: 'x' } : value;
  return mutateJson(once(random, 2) ? mutateValue(place(odd), random) : place(odd), random).toString('base64');
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

async function check(folder: string, { options, env: said, files, mode }: Said): Promise<string> {
  const path = join(folder, 'secret');
  const env: Texts & { CODESIGN_CONFIG_DIR: string } = { ...said, CODESIGN_CONFIG_DIR: join(folder, 'settings') };
  const places: Texts = { secret: path, project: join(folder, PROJECT_FILE), profiles: profilesPath(env) };
  await mkdir(env.CODESIGN_CONFIG_DIR);
  // The search for the project's file goes no further up.
  await mkdir(join(folder, '.git'));
  for (const [name, content] of Object.entries(files)) {
    const options = { mode: name === 'secret' ? mode : 0o600 };
    await writeFile(places[name] ?? '', Buffer.from(content, 'base64'), options);
  }
  const typed = options as SettingsOptions & VerifyOptions;
  const withFile = 'CODESIGN_ACCESS_SECRET_FILE' in said ? { ...env, CODESIGN_ACCESS_SECRET_FILE: path } : env;
  const secret = new Secret(Buffer.from(files.secret ?? '', 'base64').toString());
  const project = await answering(() => readProjectFile({ folder, home: folder }));
  const profile = await answering(async () => (await openProfiles(env)).read('default'));
  const shared = 'value' in project ? project.value : undefined;
  const found = 'value' in profile ? { project: shared, profile: profile.value } : undefined;
  const answers = [
    project,
    profile,
    await answering(() => resolveSigning(typed, withFile, found)),
    await answering(() => resolve('verify', typed, {})),
    await answering(() => resolve('timestamp', typed, withFile)),
    await answering(() => resolve('resume', typed, withFile)),
    await answering(() =>
      readCredentials({
        env: withFile,
        origin: 'https://example.com',
        account: { profile: 'default', environment: 'production' },
        // An entry as another user could have left it there.
        keychain: { read: async () => secret, write: async () => undefined, remove: async () => true },
        file: path,
      }),
    ),
    await answering(() => readCertificateFiles([path, ...(typed.certificate ?? [])], withFile)),
  ];
  for (const answer of answers) {
    if (!('code' in answer)) continue;
    const { message, hint = '' } = answer.error;
    require(!`${message} ${hint}`.includes(SECRET), 'the secret is in the error');
  }
  await requireStorable(env);
  const [, , settings, , , , credentials] = answers.map((answer) => ('code' in answer ? answer.code : 'good'));
  return `${settings}, ${credentials}`;
}

/** A file of profiles that can be read can also be changed, and then contains the new value. */
async function requireStorable(env: Texts): Promise<void> {
  const put = await answering(async () => (await openProfiles(env)).set('default', 'description', ['put in']));
  if ('code' in put) return;
  const [description] = (await openProfiles(env)).read('default').values.get('description') ?? [];
  require(description === 'put in', 'a setting that was put in is not there');
}
