import type { AddressInfo } from 'node:net';
import type { Config } from './config.ts';
import { ServerError } from './errors.ts';
import { isThere } from './files.ts';
import { type App, buildServer } from './http/app.ts';
import { connectionLimit, openFilesLimit, TLS_RULES } from './http/connections.ts';
import { DAY, lookAhead } from './look-ahead.ts';
import type { Operation } from './records/audit.ts';
import { addressOf, httpsUrl, isWildcard, keepAddress } from './setup/address.ts';
import { restoreChainFiles } from './setup/certificates.ts';
import { addClient, UNRESTRICTED } from './setup/clients.ts';
import { chooseReceiver, quoted, type Receiver } from './setup/credentials.ts';
import { type DataFolder, dataFolder } from './setup/data-folder.ts';
import { FIRST_NUMBER, makeData } from './setup/make-data.ts';
import { chooseHsm, type OpenData, openData, readPin } from './setup/open-data.ts';
import { ownTls, readTls, type TlsMaterial } from './setup/tls.ts';

export interface Surroundings {
  readonly environment: NodeJS.ProcessEnv;
  readonly now: () => Date;
  readonly announce: (line: string) => void;
  readonly log: { write(line: string): void };
  readonly terminal: ((text: string) => void) | undefined;
  readonly onHangUp?: (reload: () => void) => void;
}

export interface RunningServer {
  stop(): Promise<void>;
}

export async function startServer(
  config: Config,
  surroundings: Surroundings,
  operation: Operation,
): Promise<RunningServer> {
  const { environment, now, terminal } = surroundings;
  await chooseHsm(config, environment); // a start without an HSM must create nothing
  const folder = dataFolder(config.dataRoot);
  const receiverOf = () => chooseReceiver(config.clientEnv, config.dataRoot, terminal);
  if (!(await isThere(folder.path))) {
    await receiverOf(); // a start that cannot show credentials must create nothing
    await makeData(config, environment, operation, 'create');
  }
  const data = await openData(config, environment, 'update');
  let app: App | undefined;
  let certificateInUse = '';
  try {
    const receiver = (await data.store.clients.list()).length === 0 ? await receiverOf() : undefined;
    await restoreChainFiles(data.store, folder);

    const tls = await tlsFor(config, data, now());
    const threads = Number(environment.UV_THREADPOOL_SIZE ?? 4); // Node's default
    const { store, keys, sessions } = data;
    app = buildServer({
      ...{ store, keys, sessions, threads, tls, now },
      log: { level: config.logLevel, stream: surroundings.log },
      waiting: config.waiting,
      proxy: config.proxy,
      connections: connectionLimit(openFilesLimit()),
    });
    certificateInUse = tls.certificate;
    await lookAhead(app.log, tls.certificate, store, now());
    const port = await listen(app, config);
    const address = addressOf(config, port, tls.caFile);
    await keepAddress(folder, address);
    if (receiver !== undefined) {
      await addClient(data, UNRESTRICTED, { address, receiver, operation });
      reportFirstStart(app, folder, receiver);
    } else if (config.clientEnv !== undefined) {
      app.log.info(
        { clientEnv: config.clientEnv },
        'no file was written, because the server already has clients; "client add" writes a file for a new client',
      );
    }
    surroundings.announce(`listening on ${httpsUrl(config.host, port)}`);
  } catch (error) {
    try {
      await app?.close();
    } finally {
      await data.close();
    }
    throw error;
  }
  const running = app;
  surroundings.onHangUp?.(() => {
    void reloadTls(running, config, data, now()).then((certificate) => {
      certificateInUse = certificate ?? certificateInUse;
      return lookAhead(running.log, certificateInUse, data.store, now());
    });
    void reloadPin(running, config, data, environment);
  });
  const daily = setInterval(() => lookAhead(running.log, certificateInUse, data.store, now()), DAY).unref();
  return {
    async stop() {
      clearInterval(daily);
      try {
        await running.close();
      } finally {
        await data.close();
      }
    },
  };
}

function reportFirstStart(app: App, folder: DataFolder, receiver: Receiver): void {
  const isFile = receiver.kind === 'file';
  const file = isFile ? quoted(receiver.path) : 'FILE';
  app.log.info(
    { data: folder.path },
    `created a certificate authority, and a key with certificate number ${FIRST_NUMBER}: back up the data folder`,
  );
  if (isFile) {
    const written = "wrote the client's settings to a file; the access secret is stored only in that file";
    app.log.info({ clientEnv: receiver.path }, written);
  } else {
    app.log.info(
      "printed the client's settings above, only this once; store the lines in a file that only you can read",
    );
  }
  app.log.info(`next, run in the client's shell: set -a; . ${file}; set +a; codesign-remote sign app.exe`);
}

async function tlsFor(config: Config, data: OpenData, now: Date): Promise<TlsMaterial> {
  if (config.tls !== undefined) return await readTls(config.tls.certificate, config.tls.key);
  const names = isWildcard(config.host) ? config.tlsNames : [...config.tlsNames, config.host];
  return await ownTls(data.folder, names, now);
}

async function reloadTls(app: App, config: Config, data: OpenData, now: Date): Promise<string | undefined> {
  try {
    const { certificate, key } = await tlsFor(config, data, now);
    app.server.setSecureContext({ ...TLS_RULES, cert: certificate, key });
    app.log.info({ outcome: 'tls-reloaded' });
    return certificate;
  } catch (error) {
    const message = 'the TLS certificate cannot be reloaded; the previous certificate stays in use';
    app.log.error({ outcome: 'tls-kept', err: error }, message);
    return undefined;
  }
}

async function reloadPin(app: App, config: Config, data: OpenData, environment: NodeJS.ProcessEnv): Promise<void> {
  try {
    const { token } = await chooseHsm(config, environment);
    data.keys.usePin(token?.pin ?? (await readPin(data.folder)));
    app.log.info({ outcome: 'pin-reloaded' });
  } catch (error) {
    app.log.error({ outcome: 'pin-kept', err: error }, 'the PIN cannot be reloaded; the previous PIN stays in use');
  }
}

async function listen(app: App, { host, port }: Config): Promise<number> {
  try {
    await app.listen({ host, port, listenTextResolver: (url) => `accepts calls at ${url.replace('http:', 'https:')}` });
  } catch (error) {
    throw new ServerError('address-unavailable', { host, port }, error);
  }
  return (app.server.address() as AddressInfo).port;
}
