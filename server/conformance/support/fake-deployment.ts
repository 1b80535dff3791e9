/** A deployment of the API in the test's process, over HTTPS, with configurable behaviour. */

import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import https from 'node:https';
import net from 'node:net';
import { text } from 'node:stream/consumers';
import { listen } from '../../../test/support/network/listen.ts';
import { createTlsAuthority } from '../../../test/support/services/tls-authority.ts';
import { rsaKey } from '../../../test/support/signed-files/rsa-keys.ts';
import { type DeploymentOptions, SIGN } from '../deployment.ts';
import { isObject, readEnvelope } from '../envelope.ts';
import { type Behaviour, type Check, type Counted, goodBehaviour, type Keeper } from './behaviour.ts';

export type FakeDeployment = Awaited<ReturnType<typeof startFake>>;

export interface FakeOptions {
  readonly change?: ((keeper: Keeper) => Partial<Behaviour>) | undefined;
  /** True if the deployment also serves plain HTTP on the same port. */
  readonly plain?: boolean | undefined;
  /** True if the deployment also accepts TLS 1.1. */
  readonly oldTls?: boolean | undefined;
}

const CREDENTIALS = { accessKey: 'AK-conformance', accessSecret: 'Secret-of-the-Tests-0123456789' };
const CODE = '4711';
const OLD_TLS = { minVersion: 'TLSv1', ciphers: 'DEFAULT:@SECLEVEL=0' } as const;
const TLS_RECORD = 0x16;

/** Creates the keys once for all tests of a file, because this takes long. */
export async function prepareFakes() {
  const { privateKey, publicKey } = rsaKey(2048, 'conformance');
  const authority = createTlsAuthority();
  const identity = authority.issue({ names: ['localhost', '127.0.0.1'] });
  const keeper: Keeper = { credentials: CREDENTIALS, code: CODE, key: privateKey };
  return { keeper, publicKey, identity, ca: authority.root };
}

export async function startFake(
  { keeper, publicKey, identity, ca }: Awaited<ReturnType<typeof prepareFakes>>,
  { change = () => ({}), plain = false, oldTls = false }: FakeOptions = {},
) {
  const state: State = { count: 0, signed: 0, fails: false, calls: 0 };
  const records = new Set<string>();
  const behaviour: Behaviour = { ...goodBehaviour(keeper), ...change(keeper) };
  const listener = serve(behaviour, state, records);
  const secure = https.createServer({ ...identity, ...(oldTls ? OLD_TLS : {}) }, listener);
  const open = http.createServer(listener);
  // The first byte of a connection distinguishes TLS from plain HTTP.
  const server = net.createServer((socket) => {
    socket.once('readable', () => {
      const first: Buffer | null = socket.read(1);
      if (first === null) {
        socket.destroy();
        return;
      }
      socket.unshift(first);
      if (first[0] === TLS_RECORD) secure.emit('connection', socket);
      else if (plain) open.emit('connection', socket);
      else socket.destroy();
    });
  });
  const { port, stop } = await listen(server);
  const baseUrl = new URL(`https://127.0.0.1:${port}`);
  const options: DeploymentOptions = {
    ...{ baseUrls: [baseUrl], code: CODE, credentials: CREDENTIALS, ca: [ca], key: publicKey, timeout: 5000 },
    ...{ count: async () => state.count, limit: 1000 },
  };
  /** `signed` returns the number of signatures that were made, even if they were not counted. */
  return { options, baseUrl: baseUrl.href, signed: () => state.signed, stop, [Symbol.asyncDispose]: stop };
}

type State = Record<'count' | 'signed' | 'calls', number> & {
  /** True if the next call fails. */
  fails: boolean;
};

function serve(behaviour: Behaviour, state: State, records: Set<string>) {
  const count = (event: Counted) => {
    state.count += behaviour.counts(event);
  };

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const authorizations = request.rawHeaders.filter(
      (_, index, all) => index % 2 === 1 && all[index - 1]?.toLowerCase() === 'authorization',
    );
    const answer = (code: number, message: string, data: unknown = null) => {
      response.statusCode = behaviour.httpStatus(code);
      response.setHeader('content-type', 'application/json');
      if (!behaviour.keepAlive) response.setHeader('connection', 'close');
      if (response.statusCode === 401 && behaviour.challenge)
        response.setHeader('www-authenticate', behaviour.challenge);
      response.end(behaviour.body(code, message, data, authorizations[0] ?? ''));
    };
    const sent = await text(request).catch(() => undefined);
    if (sent === undefined) {
      // The client disconnected first.
      count('broken-off');
      state.fails = behaviour.staggers;
      return;
    }
    if (state.fails) {
      state.fails = false;
      return answer(500, 'internal error');
    }
    state.calls += 1;
    if (behaviour.turnsAway(state.calls)) {
      response.setHeader('retry-after', '0');
      return answer(429, 'come again');
    }
    const path = request.url ?? '';
    const misrouted = behaviour.routing(request.method ?? '', path);
    if (misrouted !== 0) return answer(misrouted, 'not here');
    const refuse = () => {
      count('unauthorized');
      answer(401, 'unauthorized');
    };
    const authorized = behaviour.authorized(authorizations);
    if (behaviour.credentialsFirst && !authorized) return refuse();
    const mistyped = behaviour.contentType(request.headers['content-type']);
    const body = readEnvelope(sent).json;
    if (mistyped !== 0 || !isObject(body)) {
      if (!authorized) return refuse();
      count('unreadable');
      return answer(mistyped || 400, 'cannot be read');
    }
    if (path !== SIGN) {
      if (!authorized) return refuse();
      count('report');
      const code = behaviour.report(records.has(String(body.id)), body);
      return answer(code, code === 0 ? 'noted' : 'the report is wrong');
    }
    const digest = behaviour.digest(body.digest);
    const algorithm = digest && behaviour.algorithm(body.algorithm, digest);
    const passed: Readonly<Record<Check, boolean>> = {
      code: behaviour.certificate(body.code),
      digest: digest !== undefined,
      // Without a digest, the signature depends on the name alone.
      algorithm: digest === undefined ? body.algorithm !== 'CONFORMANCE' : algorithm !== undefined,
      padding: behaviour.padding(body.padding),
      extra: behaviour.extra(body.extra),
    };
    const failed = behaviour.order.find((check) => !passed[check]);
    if (failed !== undefined) {
      count('parameter');
      return answer(400, `the ${failed} is wrong`);
    }
    if (!authorized) return refuse();
    if (digest === undefined || algorithm === undefined) return answer(500, 'a check is missing');
    const signature = await behaviour.signature(algorithm, digest);
    state.signed += 1;
    const id = behaviour.record(state.signed, digest);
    records.add(id);
    count('signed');
    answer(0, 'signed', { id, signature });
  };
  return (request: IncomingMessage, response: ServerResponse): void => {
    handle(request, response).catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined));
  };
}
