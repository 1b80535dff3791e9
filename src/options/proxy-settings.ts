/** Which proxies are used: as the option says, or the environment, or the profile. */

import { toCodesignError } from '../errors/codesign-error.ts';
import { type HttpProxy, type Proxies, readExceptions, type UnusableProxy } from '../http/proxy.ts';
import type { Lookup } from './lookup.ts';
import type { Environment } from './options.ts';
import { readProxy, readProxyVariable } from './proxy-values.ts';
import type { Given } from './values.ts';

/**
 * Throws `proxy-invalid`, `proxy-holds-credentials`. ALL_PROXY is for all programs of a machine, and is often one of the
 * SOCKS kind: it is minded only where somebody would be called through it.
 */
export function resolveProxies(look: Pick<Lookup, 'one'>, env: Environment): Proxies {
  const found = look.one('proxy');
  const exceptions = readExceptions(variable('no_proxy', env)?.value ?? '');
  const said = found && readProxy(found);
  if (found?.origin === '--proxy') return { https: said, http: said, exceptions };
  const all = variable('all_proxy', env);
  const otherwise = all === undefined ? said : readOrRefuse(all);
  const [https, http] = [variable('https_proxy', env), variable('http_proxy', env)];
  return {
    https: https === undefined ? otherwise : readProxyVariable(https),
    http: http === undefined ? otherwise : readProxyVariable(http),
    exceptions,
  };
}

function readOrRefuse(given: Given): HttpProxy | UnusableProxy {
  try {
    return readProxyVariable(given);
  } catch (thrown) {
    return { refusal: toCodesignError(thrown) };
  }
}

/** As curl does, the name in lower case first. */
function variable(name: string, env: Environment): Given | undefined {
  const found = [name, name.toUpperCase()].find((one) => env[one]);
  return found === undefined ? undefined : { value: env[found] ?? '', name: found };
}
