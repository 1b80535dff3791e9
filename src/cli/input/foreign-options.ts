/** Options of other signing tools which would be taken for something else here, and cost signatures. */

import { cliErrors } from '../errors.ts';

/**
 * They would be taken for a short option with its value (-out for -o with "ut", -du for -d with "u"), or for paths beside
 * the one that is meant, which would be signed. With them what people type first; the rest are unknown options anyway.
 */
const FOREIGN_OPTIONS: ReadonlyMap<string, readonly [tool: string, ours: string]> = new Map([
  ['-digestalg', ['jarsigner', '--algorithm']],
  ['-sigalg', ['jarsigner', '--algorithm']],
  ['-sigfile', ['jarsigner', '--signer-name']],
  ['-signedjar', ['jarsigner', '--output']],
  ['-certchain', ['jarsigner', '--certificate']],
  ['-certs', ['jarsigner', 'inspect --certificates']],
  ['-verbose', ['jarsigner', '--verbose']],
  ['-tsa', ['jarsigner', '--timestamp-url']],
  ['-tsapolicyid', ['jarsigner', '--timestamp-policy']],
  ['-tsadigestalg', ['jarsigner', '--timestamp-algorithm']],
  ['-in', ['osslsigncode', 'the path alone, without an option']],
  ['-out', ['osslsigncode', '--output']],
  ['-ts', ['osslsigncode', '--timestamp-url']],
  ['-ac', ['osslsigncode', '--certificate']],
  ['-CAfile', ['osslsigncode', '--roots of verify']],
  ['/t', ['signtool', '--timestamp-url, for RFC 3161 only']],
  ['/tr', ['signtool', '--timestamp-url']],
  ['/td', ['signtool', '--timestamp-algorithm']],
  ['/fd', ['signtool', '--algorithm']],
  ['/d', ['signtool', '--description']],
  ['/du', ['signtool', '--url']],
  ['/as', ['signtool', '--append']],
  ['/f', ['signtool', '--certificate']],
  ['/a', ['signtool', '--certificate']],
  ['/pa', ['signtool', 'not needed: verify always judges as for code']],
  ['/v', ['signtool', '--verbose']],
  ['-fd', ['signtool', '--algorithm']],
  ['-tr', ['signtool', '--timestamp-url']],
  ['-td', ['signtool', '--timestamp-algorithm']],
  ['-du', ['signtool', '--url']],
  ['-as', ['signtool', '--append']],
]);

/** None of ours: a secret is no argument. What may stand behind it is not looked at, and shown nowhere. */
const SECRET_OPTION = /^--?[a-z-]*(?:secret|pass)[a-z-]*(?==|$)/i;

/** What stands behind -- is a path. */
export function refuseForeignOptions(argv: readonly string[]): void {
  for (const argument of argv) {
    if (argument === '--') return;
    const [secret] = SECRET_OPTION.exec(argument) ?? [];
    if (secret !== undefined) throw cliErrors('secret-as-argument', { option: secret });
    const [tool, ours] = FOREIGN_OPTIONS.get(argument) ?? FOREIGN_OPTIONS.get(slashed(argument)) ?? [];
    if (tool !== undefined) throw cliErrors('foreign-option', { option: argument, tool, ours });
  }
}

/** signtool takes its options in any case. */
function slashed(argument: string): string {
  return argument.startsWith('/') ? argument.toLowerCase() : argument;
}
