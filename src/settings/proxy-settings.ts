/** Which proxies are used: as the option says, or the environment, or the profile. */

import { type Proxies, readExceptions } from '../http/proxy.ts';
import type { Lookup } from './lookup.ts';
import type { Environment } from './options.ts';
import { readProxy, readProxyVariable } from './proxy-values.ts';
import type { Given } from './values.ts';

/** Throws `proxy-invalid`, `proxy-holds-credentials`. */
export function resolveProxies(look: Pick<Lookup, 'one'>, env: Environment): Proxies {
  const found = look.one('proxy');
  const exceptions = readExceptions(variable('no_proxy', env)?.value ?? '');
  const said = found && readProxy(found);
  if (found?.origin === '--proxy') return { https: said, http: said, exceptions };
  const [https, http] = [variable('https_proxy', env), variable('http_proxy', env)];
  return {
    https: https === undefined ? said : readProxyVariable(https),
    http: http === undefined ? said : readProxyVariable(http),
    exceptions,
  };
}

/** As curl does, the name in lower case first. */
function variable(name: string, env: Environment): Given | undefined {
  const found = [name, name.toUpperCase()].find((one) => env[one]);
  return found === undefined ? undefined : { value: env[found] ?? '', name: found };
}
