/** Reads options and environment variables, before anything is sent. */

import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { Credentials, DeploymentOptions } from '../deployment.ts';
import type { Rule } from '../rule.ts';
import { signingKey } from '../signature.ts';
import { couldSign, isMeant, mostSignatures, RULES, selectRules } from '../suite.ts';
import { countByCommand } from './count-command.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export type Command =
  | { readonly kind: 'help' }
  | { readonly kind: 'list'; readonly rules: readonly Rule[]; readonly json: boolean }
  | {
      readonly kind: 'run';
      readonly rules: readonly Rule[];
      readonly signatures: boolean;
      /** Maximum number of signatures. */
      readonly most: number;
      readonly json: boolean;
      readonly deployment: DeploymentOptions;
    };

/** An error in the options or variables; nothing was sent. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

export const HELP = `npm run conformance -- --base-url https://… --code N [options]

Checks whether a deployment of the Remote Code Signing API follows each rule of the API document.

  --base-url <url>           address of the deployment (CODESIGN_BASE_URL); repeat it to use several addresses in turn
  --code <number>            number of the certificate (CODESIGN_CODE)
  --certificate <pem>        certificate with which signatures are verified (CODESIGN_CERTIFICATE)
  --ca-file <pem>            roots to trust for TLS (CODESIGN_CA_FILE)
  --no-signatures            sends no request that might create a signature
  --count-command <command>  shell command that prints the number of the client's counted signatures
  --only <section or words>  checks only this section, or rules with these words in the title; repeatable
  --timeout <seconds>        time limit for one call (default: 30)
  --list                     prints the rules and sends nothing
  --json                     prints one JSON document to standard output
  --help                     prints this help

Set the credentials in CODESIGN_ACCESS_KEY and CODESIGN_ACCESS_SECRET, and those of a second client in
CODESIGN_CONFORMANCE_OTHER_ACCESS_KEY and CODESIGN_CONFORMANCE_OTHER_ACCESS_SECRET.

Exit codes: 0 every checked rule is kept, 1 a rule is broken, 2 usage error, 3 the service does not answer,
4 (status outside 2xx) or 5 (2xx) the service rejects the credentials, 6 a problem with a file or the count command,
or a defect in the suite.
`;

const OPTIONS = {
  'base-url': { type: 'string', multiple: true },
  code: { type: 'string' },
  certificate: { type: 'string' },
  'ca-file': { type: 'string' },
  'no-signatures': { type: 'boolean', default: false },
  'count-command': { type: 'string' },
  only: { type: 'string', multiple: true, default: [] as string[] },
  timeout: { type: 'string', default: '30' },
  list: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;

/** Throws `UsageError`. */
export function readCommand(args: readonly string[], env: Environment): Command {
  const values = parsed(args);
  if (values.help) return { kind: 'help' };
  const unknown = values.only.find((wanted) => !RULES.some((rule) => isMeant(rule, wanted)));
  if (unknown !== undefined) throw new UsageError(`--only: no rule matches ${unknown}; --list prints all rules`);
  const rules = selectRules(values.only);
  if (values.list) return { kind: 'list', rules, json: values.json };

  const signatures = !values['no-signatures'];
  const most = signatures ? mostSignatures(rules) : 0;
  const addresses = values['base-url'] ?? (env.CODESIGN_BASE_URL ? [env.CODESIGN_BASE_URL] : []);
  if (addresses.length === 0)
    throw new UsageError('--base-url or CODESIGN_BASE_URL must set the address of the service');
  const code = values.code ?? env.CODESIGN_CODE;
  if (!code) throw new UsageError('--code or CODESIGN_CODE must set the number of the certificate');
  const seconds = Number(values.timeout);
  if (!(seconds > 0 && seconds <= 3600)) throw new UsageError('--timeout must be a number of seconds, at most 3600');
  const credentials = credentialsIn(env, 'CODESIGN_ACCESS_KEY', 'CODESIGN_ACCESS_SECRET');
  if (credentials === undefined) {
    throw new UsageError('CODESIGN_ACCESS_KEY and CODESIGN_ACCESS_SECRET must contain the credentials');
  }
  const caFile = values['ca-file'] ?? env.CODESIGN_CA_FILE;
  const certificate = values.certificate ?? env.CODESIGN_CERTIFICATE;
  const other = 'CODESIGN_CONFORMANCE_OTHER_ACCESS';
  return {
    ...{ kind: 'run', rules, signatures, most, json: values.json },
    deployment: {
      baseUrls: addresses.map(addressOf),
      ...{ code, credentials, timeout: 1000 * seconds, limit: most },
      otherClient: credentialsIn(env, `${other}_KEY`, `${other}_SECRET`),
      ca: caFile ? [readText(caFile, '--ca-file')] : undefined,
      key: certificate && rules.some(couldSign) ? readKey(certificate) : undefined,
      count: values['count-command'] === undefined ? undefined : countByCommand(values['count-command']),
    },
  };
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, strict: true }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

/** Returns undefined if neither variable is set. Setting only one of them is an error. */
function credentialsIn(env: Environment, keyName: string, secretName: string): Credentials | undefined {
  const [accessKey, accessSecret] = [env[keyName], env[secretName]];
  if (!accessKey && !accessSecret) return undefined;
  if (!accessKey || !accessSecret) throw new UsageError(`${accessKey ? secretName : keyName} is not set`);
  if (accessKey.includes(':')) throw new UsageError(`${keyName} contains a colon, which access keys cannot contain`);
  return { accessKey, accessSecret };
}

function addressOf(text: string): URL {
  if (!URL.canParse(text)) throw new UsageError('--base-url is not a URL');
  const url = new URL(text);
  if (url.protocol !== 'https:') throw new UsageError('--base-url must begin with https:// (5 rule 5)');
  if (url.username !== '' || url.password !== '') throw new UsageError('--base-url contains credentials');
  if (/[?#]/.test(text)) throw new UsageError('--base-url has a query or a fragment');
  return url;
}

function readText(path: string, option: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new UsageError(`${option}: ${error instanceof Error ? error.message : error}`);
  }
}

function readKey(path: string) {
  const pem = readText(path, '--certificate');
  try {
    return signingKey(pem);
  } catch (error) {
    throw new UsageError(`--certificate: ${error instanceof Error ? error.message : error}`);
  }
}
