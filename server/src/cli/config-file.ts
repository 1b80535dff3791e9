/** The configuration file: JSON with the settings of a server, each of them checked, faults told by the key's path. */

import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import * as v from 'valibot';
import { reasonOf, serverError } from '../errors.ts';

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

const text = v.pipe(v.string('is not a text'), v.minLength(1, 'is empty'));
const whole = (from: number, to: number) => {
  const expected = `is not a whole number from ${from} to ${to}`;
  return v.pipe(v.number(expected), v.integer(expected), v.minValue(from, expected), v.maxValue(to, expected));
};
/** An object with no other keys; a list, which would pass for an empty one, is none. */
const object = <T extends v.ObjectEntries>(entries: T) =>
  v.pipe(
    v.custom<object>((value) => !Array.isArray(value), 'is not an object'),
    v.strictObject(entries, 'is not an object'),
  );

/** How the file looks; every key may be left out. Nothing in it is a secret but a password in `database`. */
const schema = object({
  data: v.optional(text),
  host: v.optional(text),
  port: v.optional(whole(0, 65_535)),
  database: v.optional(text),
  tls: v.optional(
    object({ certificate: v.optional(text), key: v.optional(text), names: v.optional(v.array(text, 'is not a list')) }),
  ),
  tsa: v.optional(v.boolean('is neither true nor false')),
  logLevel: v.optional(v.picklist(LOG_LEVELS, `is none of ${LOG_LEVELS.join(', ')}`)),
  pkcs11: v.optional(
    object({
      library: v.optional(text),
      token: v.optional(text),
      pinFile: v.optional(text),
      sessions: v.optional(whole(1, 1024)),
    }),
  ),
  limits: v.optional(object({ waiting: v.optional(whole(0, 100_000)), leaseSeconds: v.optional(whole(1, 3600)) })),
});

export type ConfigFile = v.InferOutput<typeof schema>;

/** Reads it; relative paths in it are meant from its own folder. @throws `config-unreadable`, `config-invalid` */
export function readConfigFile(path: string): ConfigFile {
  const parsed = v.safeParse(schema, parse(path));
  if (!parsed.success) {
    const [issue] = parsed.issues;
    const key = v.getDotPath(issue) ?? 'the whole';
    const reason = issue.type === 'strict_object' && issue.expected === 'never' ? 'is no setting' : issue.message;
    throw serverError('config-invalid', { path, key, reason });
  }
  const { output } = parsed;
  const from = (file: string | undefined) => (file === undefined ? undefined : resolve(dirname(path), file));
  return {
    ...output,
    data: from(output.data),
    tls: output.tls && { ...output.tls, certificate: from(output.tls.certificate), key: from(output.tls.key) },
    pkcs11: output.pkcs11 && {
      ...output.pkcs11,
      library: from(output.pkcs11.library),
      pinFile: from(output.pkcs11.pinFile),
    },
  };
}

function parse(path: string): unknown {
  let json: string;
  try {
    json = readFileSync(path, 'utf8');
  } catch (error) {
    throw serverError('config-unreadable', { path, reason: reasonOf(error) }, error);
  }
  try {
    return JSON.parse(json);
  } catch (error) {
    throw serverError('config-invalid', { path, key: 'the whole', reason: 'is not JSON' }, error);
  }
}
