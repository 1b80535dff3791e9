/** Files that hold a user's settings: the project file, which comes with a project, the profiles, and the access secret. */

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readCredentials } from '../../../src/options/credentials/credentials.ts';
import { readCertificateFiles } from '../../../src/options/credentials/files.ts';
import { PROJECT_FILE } from '../../../src/options/lookup.ts';
import { resolve, resolveSigning } from '../../../src/options/resolve.ts';
import { openProfiles, profilesPath } from '../../../src/options/stored/profiles.ts';
import { readProjectFile } from '../../../src/options/stored/project-file.ts';
import { Secret } from '../../../src/secrets/secret.ts';
import { answering, require } from '../check-case.ts';
import { mutateBytes } from '../mutations/bytes.ts';
import { mutateJson, mutateValue } from '../mutations/json.ts';
import { once, pick, type Random } from '../mutations/random.ts';
import { inFolderOfItsOwn, type TargetDefinition } from '../target.ts';

interface Files {
  /** In Base64, by their names: `secret`, `project` and `profiles`. */
  readonly contents: Readonly<Record<string, string>>;
  /** Mode of the file with the secret. */
  readonly mode: number;
  /** True if variables name that file. Otherwise the keychain and the credentials file contain its text. */
  readonly isNamed: boolean;
}

const SECRET = 's3cret-of-the-user';
/** Options and variables are read by the same functions as these values. */
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
    make: (random) => Buffer.from(JSON.stringify(makeFiles(random))),
    run: (input) =>
      inFolderOfItsOwn(folder, (place) => check(place, JSON.parse(Buffer.from(input).toString()) as Files)),
  }),
};

function makeFiles(random: Random): Files {
  // Whole, so that it is known what must not be shown.
  const secret = Buffer.from(once(random, 20) ? 'x'.repeat(random(100_000)) : `${SECRET}\n`);
  const contents: Record<string, string> = {
    secret: (once(random, 2) ? secret : mutateBytes(secret, random)).toString('base64'),
  };
  if (once(random, 2)) contents.project = stored(PROJECT, random, (project) => project);
  if (once(random, 2)) contents.profiles = stored(PROFILE, random, (profile) => ({ profiles: { default: profile } }));
  return { contents, mode: pick(random, [0o600, 0o600, 0o644, 0o666, 0o400]), isNamed: once(random, 2) };
}

/** In the file that `place` makes of it. */
function stored(value: object, random: Random, place: (value: unknown) => unknown): string {
  const odd = once(random, 4) ? { ...value, [pick(random, ODD_KEYS)]: 'x' } : value;
  return mutateJson(once(random, 2) ? mutateValue(place(odd), random) : place(odd), random).toString('base64');
}

async function check(folder: string, { contents, mode, isNamed }: Files): Promise<string> {
  const path = join(folder, 'secret');
  const env = { CODESIGN_CONFIG_DIR: join(folder, 'settings') };
  const withFile = isNamed ? { ...env, CODESIGN_ACCESS_KEY: 'AK', CODESIGN_ACCESS_SECRET_FILE: path } : env;
  const places: Readonly<Record<string, string>> = {
    secret: path,
    project: join(folder, PROJECT_FILE),
    profiles: profilesPath(env),
  };
  await mkdir(env.CODESIGN_CONFIG_DIR);
  // The search for the project's file goes no further up.
  await mkdir(join(folder, '.git'));
  for (const [name, content] of Object.entries(contents)) {
    await writeFile(places[name] ?? '', Buffer.from(content, 'base64'), { mode: name === 'secret' ? mode : 0o600 });
  }
  const project = await answering(() => readProjectFile({ folder, home: folder }));
  const profile = await answering(async () => (await openProfiles(env)).read('default'));
  const shared = 'value' in project ? project.value : undefined;
  const found = 'value' in profile ? { project: shared, profile: profile.value } : undefined;
  const settings = await answering(() => resolveSigning({}, withFile, found));
  const credentials = await answering(() =>
    readCredentials({
      env: withFile,
      origin: 'https://example.com',
      account: { profile: 'default', environment: 'production' },
      // Another user could have left such an entry.
      keychain: {
        read: async () => new Secret(Buffer.from(contents.secret ?? '', 'base64').toString()),
        write: async () => undefined,
        remove: async () => true,
      },
      file: path,
    }),
  );
  const answers = [
    ...[project, profile, settings, credentials],
    await answering(() => resolve('timestamp', {}, withFile, found)),
    await answering(() => readCertificateFiles([path], withFile)),
  ];
  for (const answer of answers) {
    if (!('code' in answer)) continue;
    const { message, hint = '' } = answer.error;
    require(!`${message} ${hint}`.includes(SECRET), 'the secret is in the error');
  }
  await requireStorable(env);
  return [settings, credentials].map((answer) => ('code' in answer ? answer.code : 'good')).join(', ');
}

/** A file of profiles that can be read can also be changed, and then contains the new value. */
async function requireStorable(env: Readonly<Record<string, string>>): Promise<void> {
  const put = await answering(async () => (await openProfiles(env)).set('default', 'description', ['put in']));
  if ('code' in put) return;
  const [description] = (await openProfiles(env)).read('default').values.get('description') ?? [];
  require(description === 'put in', 'a setting that was put in is not there');
}
