import { hostname } from 'node:os';
import type { Command } from 'commander';
import { userName } from '../access.ts';
import type { Operation } from '../records/audit.ts';
import { quoted } from '../setup/credentials.ts';
import type { Surroundings } from '../start.ts';

/** Options that the audit log omits: paths, and the database URL, which may contain a password. */
const NOT_RECORDED = [
  ...['config', 'data', 'database', 'pkcs11Library', 'pkcs11Token', 'pkcs11PinFile'],
  ...['clientEnv', 'viewerEnv', 'baseUrl', 'chain'],
];

/** Describes an executed command for the audit log. The first argument is recorded as the target of the command. */
export function operationOf(
  command: Command,
  { environment, now }: Pick<Surroundings, 'environment' | 'now'>,
): Operation {
  const names: string[] = [];
  for (let each: Command | null = command; each?.parent; each = each.parent) names.unshift(each.name());
  const options = command.options.flatMap((option) => {
    const name = option.attributeName();
    if (NOT_RECORDED.includes(name) || command.getOptionValueSource(name) !== 'cli') return [];
    const word = option.long?.slice(2) ?? name;
    const value: unknown = command.getOptionValue(name);
    if (typeof value === 'boolean') return [word];
    return [value].flat().map((each) => `${word}=${/^[\w.:,+-]+$/.test(`${each}`) ? each : quoted(`${each}`)}`);
  });
  return {
    at: now(),
    operator: operatorIn(environment),
    host: hostname(),
    command: names.join(' '),
    details: [...command.args.slice(1), ...options].join(' '),
  };
}

function operatorIn({ SUDO_USER: caller }: NodeJS.ProcessEnv): string {
  const user = userName();
  return caller === undefined || caller === user ? user : `${caller} as ${user}`;
}
