/** The check for the environment variable that turns TLS verification off. */

import type { CodesignError } from '../errors/codesign-error.ts';
import { httpErrors } from './errors.ts';

/**
 * The error to refuse the run with, or undefined when all is well. This program verifies certificates whatever the
 * variable says; but who sets it expects otherwise, and other programs in the same environment are exposed.
 */
export function tlsChecksDisabled(
  environment: Readonly<Record<string, string | undefined>>,
): CodesignError | undefined {
  return environment.NODE_TLS_REJECT_UNAUTHORIZED === '0' ? httpErrors('tls-checks-disabled') : undefined;
}
