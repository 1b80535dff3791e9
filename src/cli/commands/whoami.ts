/** `codesign-remote whoami`: prints the credentials that `sign` would use, masked, and whether the service accepts them. */

import { composeCredentialsCommand } from '../../app/compose-credentials.ts';
import { missingSettings } from '../../options/commands/common.ts';
import type { OptionsOf } from '../../options/table.ts';
import type { Io } from '../io.ts';
import { jsonText, warningsJson } from '../output/json.ts';
import { Lines, maskedKey, shown } from '../output/lines.ts';

const SOURCES = { environment: 'the environment', keychain: "the operating system's keychain" } as const;

/** Returns the exit code. Throws errors of usage, of the keychain and, with --check, of the service. */
export async function whoami(options: OptionsOf<'whoami'>, io: Io): Promise<number> {
  const lines = new Lines(io, options);
  const composition = await composeCredentialsCommand(options, io.env, { mayBeNew: false });
  const { profile, baseUrl } = composition.settings;
  const credentials = await composition.read();
  const { source, origin } = credentials;
  const accessKey = maskedKey(credentials.accessKey);
  // The keychain stores the origin of the service, without the path of its address.
  const address = baseUrl ?? (origin === undefined ? undefined : new URL(origin));
  const checked = options.check ? await composition.check(requireAddress(address, io.env), credentials) : undefined;
  const warnings = [...credentials.warnings, ...(checked?.warnings ?? [])];
  if (options.json) {
    const check =
      checked === undefined
        ? null
        : { accepted: true, httpStatus: checked.httpStatus, serviceCode: checked.serviceCode ?? null };
    const service = address?.origin ?? null;
    io.stdout.write(jsonText({ profile, origin: service, accessKey, source, check, ...warningsJson(warnings) }));
  } else {
    lines.result(`profile     ${profile}`);
    lines.result(`service     ${address?.origin ?? 'not known: --base-url'}`);
    lines.result(`access key  ${shown(accessKey)}`);
    lines.result(`from        ${SOURCES[source]}`);
    if (checked !== undefined) lines.result('check       accepted, as far as the service reports');
  }
  for (const warning of warnings) lines.warning(warning);
  return 0;
}

function requireAddress(address: URL | undefined, env: Io['env']): URL {
  if (address !== undefined) return address;
  throw missingSettings(['baseUrl'], env);
}
