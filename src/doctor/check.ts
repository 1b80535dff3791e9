import { type CodesignError, toCodesignError } from '../errors/codesign-error.ts';

export type CheckName =
  | 'program'
  | 'variables'
  | 'profile'
  | 'settings'
  | 'state'
  | 'certificate'
  | 'number'
  | 'keychain'
  | 'credentials'
  | 'name'
  | 'connection'
  | 'clock'
  | 'access'
  | 'timestamp'
  | 'limits';

/** A note states a fact that the user should know, but that does not keep `sign` from working. */
export interface Passed {
  readonly text: string;
  readonly notes?: readonly string[];
}

export interface Check {
  readonly name: CheckName;
  readonly needs?: readonly CheckName[];
  readonly usesNetwork?: true;
  /** Throws a CodesignError, whose hint is the remedy. */
  run(): Passed | Promise<Passed>;
}

export interface CheckResult {
  readonly name: CheckName;
  readonly status: 'ok' | 'note' | 'failed' | 'not-checked';
  /** Says what the check found, or why the check was not run. The text is not escaped. */
  readonly text: string;
  readonly notes: readonly string[];
  readonly error?: CodesignError;
}

/** Adds checks that fail or do not run to `unavailable`. Checks that depend on them are skipped. */
export async function* runChecks(
  checks: readonly Check[],
  unavailable: Set<CheckName>,
  isOffline: boolean,
): AsyncGenerator<CheckResult> {
  for (const check of checks) {
    const result = reasonNotToRun(check, unavailable, isOffline) ?? (await runCheck(check));
    if (result.status === 'failed' || result.status === 'not-checked') unavailable.add(check.name);
    yield result;
  }
}

function reasonNotToRun(
  { name, needs = [], usesNetwork }: Check,
  unavailable: ReadonlySet<CheckName>,
  isOffline: boolean,
): CheckResult | undefined {
  const notChecked = (why: string): CheckResult => ({
    name,
    status: 'not-checked',
    text: `not checked: ${why}`,
    notes: [],
  });
  if (usesNetwork && isOffline) return notChecked('--offline was given');
  const missing = needs.find((needed) => unavailable.has(needed));
  return missing === undefined ? undefined : notChecked(`it depends on ${missing}`);
}

async function runCheck({ name, run }: Check): Promise<CheckResult> {
  try {
    const { text, notes = [] } = await run();
    return { name, status: notes.length > 0 ? 'note' : 'ok', text, notes };
  } catch (thrown) {
    const error = toCodesignError(thrown);
    return { name, status: 'failed', text: error.message, notes: [], error };
  }
}
