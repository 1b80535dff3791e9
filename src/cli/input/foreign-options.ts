/** Options of other signing tools. Some of them would mean something else here, and cost signatures. */

import { cliErrors } from '../errors.ts';

/**
 * Most of them would be read as a short option with its value (-out as -o with "ut"), or as further paths to sign. The others
 * are here for a better message than "unknown option".
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
  ['/pa', ['signtool', 'verify alone: it always checks for code signing']],
  ['/v', ['signtool', '--verbose']],
  ['-fd', ['signtool', '--algorithm']],
  ['-tr', ['signtool', '--timestamp-url']],
  ['-td', ['signtool', '--timestamp-algorithm']],
  ['-du', ['signtool', '--url']],
  ['-as', ['signtool', '--append']],
]);

/** No command has such an option. Its value is neither read nor shown. */
const SECRET_OPTION = /^--?[a-z-]*(?:secret|pass)[a-z-]*(?==|$)/i;

/** Arguments after -- are paths. Throws `foreign-option`, `secret-as-argument`. */
export function refuseForeignOptions(argv: readonly string[]): void {
  for (const argument of argv) {
    if (argument === '--') return;
    const [secret] = SECRET_OPTION.exec(argument) ?? [];
    if (secret !== undefined) throw cliErrors('secret-as-argument', { option: secret });
    const [tool, ours] = FOREIGN_OPTIONS.get(argument) ?? FOREIGN_OPTIONS.get(slashed(argument)) ?? [];
    if (tool !== undefined) throw cliErrors('foreign-option', { option: argument, tool, ours });
  }
}

/** signtool ignores the case of its options. */
function slashed(argument: string): string {
  return argument.startsWith('/') ? argument.toLowerCase() : argument;
}
