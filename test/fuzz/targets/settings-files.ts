/** The settings stored on this machine: the project's file and the user's profiles, as anybody may have left them. */

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PROJECT_FILE, type Stored } from '../../../src/options/lookup.ts';
import { resolveSigning } from '../../../src/options/resolve.ts';
import { openProfiles, profilesPath } from '../../../src/options/stored/profiles.ts';
import { readProjectFile } from '../../../src/options/stored/project-file.ts';
import { answering, require } from '../check-case.ts';
import { mutateJson, mutateValue } from '../mutations/json.ts';
import { once, pick, type Random } from '../mutations/random.ts';
import { inFolderOfItsOwn, type TargetDefinition } from '../target.ts';

interface Left {
  /** In Base64; undefined where there is no such file. */
  readonly project?: string;
  readonly profiles?: string;
}

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
const PROFILES = {
  profiles: {
    default: {
      environment: 'staging',
      environments: { staging: 'https://staging.example', production: 'https://example.com/a' },
      code: 'C-1',
      certificate: ['/chain.pem'],
      fileName: 'hide',
      extra: { hostname: '', signing_filesize: 1 },
      caFile: '/ca.pem',
      ...SHARED,
    },
    work: { environments: { production: 'https://work.example' } },
  },
};
/** Every other key must not be stored. */
const ODD_KEYS = [
  'accessSecret',
  'baseUrl',
  'profile',
  'CODESIGN_CODE',
  '--code',
  'base-url',
  'toString',
  '',
  'a'.repeat(300),
];

export const storedTarget: TargetDefinition = {
  share: 4000,
  open: async ({ folder }) => ({
    make: (random) => Buffer.from(JSON.stringify(leave(random))),
    run: (input) =>
      inFolderOfItsOwn(folder, (place) => readAll(place, JSON.parse(Buffer.from(input).toString()) as Left)),
  }),
};

function leave(random: Random): Left {
  const project = once(random, 4) ? {} : { project: mutateJson(oddly(PROJECT, random), random).toString('base64') };
  if (once(random, 4)) return project;
  const profiles = once(random, 2) ? mutateValue(PROFILES, random) : withOddKey(random);
  return { ...project, profiles: mutateJson(profiles, random).toString('base64') };
}

function oddly(value: object, random: Random): unknown {
  return once(random, 4) ? { ...value, [pick(random, ODD_KEYS)]: 'x' } : value;
}

function withOddKey(random: Random): unknown {
  const { profiles } = PROFILES;
  return { profiles: { ...profiles, default: oddly(profiles.default, random) } };
}

async function readAll(folder: string, { project, profiles }: Left): Promise<string> {
  // The search for the project's file goes no further up.
  await mkdir(join(folder, '.git'));
  const env = { CODESIGN_CONFIG_DIR: join(folder, 'settings') };
  await mkdir(env.CODESIGN_CONFIG_DIR);
  const write = (path: string, content: string) => writeFile(path, Buffer.from(content, 'base64'), { mode: 0o600 });
  if (project !== undefined) await write(join(folder, PROJECT_FILE), project);
  if (profiles !== undefined) await write(profilesPath(env), profiles);

  const shared = await answering(() => readProjectFile({ folder, home: folder }));
  const opened = await answering(() => openProfiles(env));
  if ('code' in opened) return opened.code;
  const profile = await answering(() => opened.value.read('default'));
  if ('code' in profile) return profile.code;
  const stored: Stored = { project: 'code' in shared ? undefined : shared.value, profile: profile.value };
  const resolved = await answering(() => resolveSigning({}, env, stored));
  // What can be read can be changed, and says afterwards what was put in.
  const put = await answering(() => opened.value.set('default', 'description', ['put in']));
  if ('value' in put) {
    const [description] = (await openProfiles(env)).read('default').values.get('description') ?? [];
    require(description === 'put in', 'a setting that was put in is not there');
  }
  return [shared, resolved].map((answer) => ('code' in answer ? answer.code : 'good')).join(', ');
}
