/** Real reverse proxies in front of a service that speaks plain HTTP: nginx and haproxy, which end TLS and can be reloaded. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import net from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { endWithThisProcess } from '../children.ts';
import { temporaryFolder } from '../programs/cli.ts';
import { createTlsAuthority } from '../services/tls-authority.ts';
import { listen } from './listen.ts';

export const REVERSE_PROXIES = ['nginx', 'haproxy'] as const;

interface Setting {
  readonly folder: string;
  readonly port: number;
  readonly to: number;
  /** Requests beyond so many in a second get HTTP 429 without Retry-After. Default: none. */
  readonly perSecond: number | undefined;
}

const PROGRAMS = {
  nginx: {
    args: (file: string) => ['-c', file],
    signal: 'SIGHUP',
    configuration: ({ folder, port, to, perSecond }: Setting) => `
daemon off; worker_processes 1; pid ${folder}/pid; error_log ${folder}/errors; ${process.getuid?.() === 0 ? 'user root;' : ''}
events {}
http {
  access_log off;
  ${perSecond ? `limit_req_zone $server_port zone=all:1m rate=${perSecond}r/s; limit_req zone=all burst=${perSecond} nodelay; limit_req_status 429;` : ''}
  client_body_temp_path ${folder}; proxy_temp_path ${folder}; fastcgi_temp_path ${folder}; uwsgi_temp_path ${folder}; scgi_temp_path ${folder};
  server {
    listen 127.0.0.1:${port} ssl;
    ssl_certificate ${folder}/identity.pem; ssl_certificate_key ${folder}/identity.pem;
    location / { proxy_pass http://127.0.0.1:${to}; }
  }
}`,
  },
  haproxy: {
    args: (file: string) => ['-W', '-db', '-f', file],
    signal: 'SIGUSR2',
    configuration: ({ folder, port, to, perSecond }: Setting) => `
defaults
  mode http
  timeout connect 5s
  timeout client 30s
  timeout server 30s
frontend tls
  bind 127.0.0.1:${port} ssl crt ${folder}/identity.pem
  ${perSecond ? `stick-table type ip size 1k expire 10s store http_req_rate(1s)\n  http-request track-sc0 src\n  http-request return status 429 if { sc_http_req_rate(0) gt ${perSecond} }` : ''}
  default_backend service
backend service
  server one 127.0.0.1:${to}
`,
  },
} as const;

export async function startReverseProxy(
  name: (typeof REVERSE_PROXIES)[number],
  to: number,
  { perSecond }: Partial<Pick<Setting, 'perSecond'>> = {},
) {
  const folder = await temporaryFolder('codesign-proxy-');
  const authority = createTlsAuthority();
  const { key, cert } = authority.issue({ names: ['127.0.0.1'] });
  const caFile = join(folder.path, 'root.pem');
  const file = join(folder.path, 'configuration');
  const port = await freePort();
  const { args, signal, configuration } = PROGRAMS[name];
  await writeFile(caFile, authority.root);
  await writeFile(join(folder.path, 'identity.pem'), `${cert}${key}`);
  await writeFile(file, configuration({ folder: folder.path, port, to, perSecond }));
  const child = spawn(name, args(file), { stdio: ['ignore', 'ignore', 'pipe'] });
  endWithThisProcess(child);
  await listening(child, port);
  return {
    port,
    /** PEM file with the root of its certificate. */
    caFile,
    /** Starts new workers, and ends the old ones gracefully. */
    reload: () => void child.kill(signal),
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      if (child.exitCode === null) await once(child, 'exit');
      await folder[Symbol.asyncDispose]();
    },
  };
}

async function freePort(): Promise<number> {
  await using server = await listen(net.createServer());
  return server.port;
}

async function listening(child: ChildProcess, port: number): Promise<void> {
  let errors = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  for (;;) {
    const socket = net.connect(port, '127.0.0.1');
    const isOpen = await Promise.race([once(socket, 'connect'), once(socket, 'error')]).then(
      () => socket.readyState === 'open',
      () => false,
    );
    socket.destroy();
    if (isOpen) return;
    if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}: ${errors}`);
    await pause(20);
  }
}
