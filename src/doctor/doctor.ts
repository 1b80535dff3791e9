/** THE TABLE OF CHECKS of `doctor`, in the order in which it prints them. */

import { resolveTimestamps } from '../options/resolve.ts';
import { type Environment, OPTIONS, type OptionsOf } from '../options/table.ts';
import { type Check, type CheckName, type CheckResult, runChecks } from './check.ts';
import * as local from './local-checks.ts';
import * as network from './network-checks.ts';

/** Requests no signature, and changes nothing. */
export async function* examine(options: OptionsOf<'doctor'>, env: Environment): AsyncGenerator<CheckResult> {
  const setup: local.Setup = { options, env };
  const isOffline = options.offline ?? false;
  const unavailable = new Set<CheckName>();
  yield* runChecks(checksOf(setup), unavailable, isOffline);
  yield* runChecks(authorityChecks(setup), unavailable, isOffline);
}

/** There is one check for each authority that the settings contain. */
function authorityChecks(setup: local.Setup): readonly Check[] {
  const { settings } = setup;
  const base = { name: 'timestamp', needs: ['settings'] } as const;
  const isWanted = settings?.timestamp && settings.timestampUrl.length > 0;
  if (!isWanted) return [{ ...base, run: () => network.checkWithoutAuthority(setup) }];
  const { urls, ...timestamps } = resolveTimestamps(settings.look, ALGORITHM, setup.env);
  return urls.map((url) => ({
    ...base,
    usesNetwork: true,
    run: () => network.checkAuthority(setup, { ...timestamps, urls: [url] }),
  }));
}

/** Default digest algorithm of timestamps in `sign`. */
const ALGORITHM = OPTIONS.algorithm.default;

function checksOf(setup: local.Setup): readonly Check[] {
  const check = (name: Check['name'], run: (setup: local.Setup) => ReturnType<Check['run']>): Check => ({
    name,
    run: () => run(setup),
  });
  return [
    check('program', local.checkProgram),
    check('variables', local.checkVariables),
    check('profile', local.checkProfile),
    { ...check('settings', local.checkSettings), needs: ['profile'] },
    { ...check('state', local.checkState), needs: ['program'] },
    { ...check('certificate', local.checkCertificate), needs: ['settings'] },
    { ...check('number', local.checkNumber), needs: ['certificate', 'state'] },
    { ...check('limits', local.checkLimits), needs: ['settings'] },
    { ...check('keychain', local.checkKeychain), needs: ['settings'] },
    { ...check('credentials', local.checkCredentialsFound), needs: ['settings'] },
    { ...check('name', network.checkHostName), needs: ['settings'], usesNetwork: true },
    { ...check('connection', network.checkConnection), needs: ['name'], usesNetwork: true },
    { ...check('clock', network.checkClock), needs: ['connection'], usesNetwork: true },
    { ...check('access', network.checkAccess), needs: ['connection', 'credentials'], usesNetwork: true },
  ];
}
