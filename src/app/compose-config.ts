import { realpath } from 'node:fs/promises';
import { homeFolder } from '../bytes/platform-folders.ts';
import { readSigningChain, type SigningChain } from '../certificates/signing-chain.ts';
import { PURPOSES } from '../formats/registry.ts';
import { loadRoots } from '../http/roots.ts';
import { readCertificateFiles } from '../options/credentials/files.ts';
import { lookUp, NOTHING_STORED, type Stored, type StoredProfile } from '../options/lookup.ts';
import { DEFAULT_PROFILE, openProfiles } from '../options/stored/profiles.ts';
import { readProjectFile } from '../options/stored/project-file.ts';
import type { Environment, ProfileOptions } from '../options/table.ts';

export async function composeStored(options: ProfileOptions, env: Environment): Promise<Stored> {
  const [project, profile] = await Promise.all([readProject(), readProfile(options, env)]);
  return { project, profile };
}

/** For library users, a profile applies only if they specify one, and the project file never applies. */
export async function composeNamed(options: ProfileOptions, env: Environment): Promise<Stored> {
  const isAsked = [options.profile, options.environment, env.CODESIGN_PROFILE, env.CODESIGN_ENVIRONMENT].some(Boolean);
  return isAsked ? { project: undefined, profile: await readProfile(options, env) } : NOTHING_STORED;
}

export async function readChain(paths: readonly string[], env: Environment): Promise<SigningChain> {
  const { files, password, warnings } = await readCertificateFiles(paths, env);
  const chain = await readSigningChain(files, { now: new Date(), password, purposes: PURPOSES });
  return { ...chain, warnings: [...warnings, ...chain.warnings] };
}

export async function checkRoots(caFile: string, env: Environment): Promise<void> {
  await loadRoots(caFile, env);
}

export function nameProfile(
  { profile }: ProfileOptions,
  env: Environment,
): { readonly name: string; readonly from: string } {
  const { value, name } = lookUp({ profile }, env).one('profile') ?? { value: DEFAULT_PROFILE, name: 'default' };
  return { name: value, from: name };
}

async function readProfile(options: ProfileOptions, env: Environment): Promise<StoredProfile> {
  const { name, from } = nameProfile(options, env);
  return (await openProfiles(env)).read(name, from);
}

async function readProject(): Promise<Stored['project']> {
  const folder = workingFolder();
  // process.cwd() contains no links, so links in the path of the home folder are resolved too.
  const named = homeFolder();
  const home = named && (await realpath(named).catch(() => named));
  return folder === undefined ? undefined : await readProjectFile({ folder, home });
}

/** Without a working folder, no project file can be found. */
function workingFolder(): string | undefined {
  try {
    return process.cwd();
  } catch {
    return undefined;
  }
}
