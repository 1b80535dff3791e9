/** HTTPS requests with exactly the given headers, including duplicates, and without redirects or retries. */

import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import https from 'node:https';

export interface HttpRequest {
  readonly url: URL;
  readonly method: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string | undefined;
}

export interface HttpAnswer {
  readonly status: number;
  /** The names have the letter case that the service sent. */
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string;
  /** True if the connection had served an earlier request. */
  readonly reused: boolean;
}

/** The service sent no response: the connection failed or broke, or the time limit ended. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
}

/**
 * Milliseconds after which an idle connection is not reused. Node servers close idle connections after five seconds,
 * so a request could be lost.
 */
const IDLE = 1000;
/** Limit on the length of a response in bytes; envelopes have a few hundred. */
const LONGEST = 256 * 1024;

export function createHttp(ca: readonly string[] | undefined, timeout: number) {
  const agent = new https.Agent({ keepAlive: true, timeout: IDLE });

  const start = ({ url, method, headers, body }: HttpRequest, own?: https.Agent) => {
    const length = body === undefined ? [] : ['Content-Length', `${Buffer.byteLength(body)}`];
    const named = new Set(headers.map(([name]) => name.toLowerCase()));
    return https.request(url, {
      method,
      agent: own ?? agent,
      timeout,
      // Node sends a flat list unchanged: it joins no duplicates, and adds no headers.
      headers: [
        ...['Host', url.host],
        ...headers.flat(),
        ...(named.has('content-length') || named.has('transfer-encoding') ? [] : length),
      ] as unknown as NodeJS.Dict<string>,
      ...(ca && { ca: [...ca] }),
      rejectUnauthorized: true,
    });
  };

  return {
    /** Rejects with `NoAnswer` if no response comes. */
    async send(request: HttpRequest): Promise<HttpAnswer> {
      const call = start(request);
      call.once('timeout', () => call.destroy(new Error(`no answer within ${timeout / 1000} s`)));
      try {
        call.end(request.body);
        const [response] = (await once(call, 'response')) as [IncomingMessage];
        const body = await bodyOf(response);
        const { rawHeaders: raw } = response;
        const headers = raw.flatMap((name, index) => (index % 2 === 0 ? [[name, raw[index + 1] ?? ''] as const] : []));
        return { status: response.statusCode ?? 0, headers, body, reused: call.reusedSocket };
      } catch (error) {
        call.destroy();
        throw new NoAnswer(error instanceof Error ? error.message : String(error));
      }
    },
    /** Sends the request, and disconnects the given number of milliseconds after the last byte. */
    async sendAndLeave(request: HttpRequest, linger: number): Promise<void> {
      const call = start(request, new https.Agent({ keepAlive: false }));
      const closed = new Promise((resolve) => call.once('close', resolve));
      call.on('error', () => {}); // the response is complete: how the connection ends does not matter
      await new Promise<void>((resolve) => {
        call.once('close', resolve);
        call.write(request.body ?? '', () => setTimeout(resolve, linger));
      });
      call.destroy();
      await closed;
    },
    close: () => agent.destroy(),
  };
}

async function bodyOf(response: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of response) {
    length += (part as Buffer).length;
    if (length > LONGEST) throw new Error(`the answer has more than ${LONGEST} bytes`);
    parts.push(part as Buffer);
  }
  return Buffer.concat(parts).toString('utf8');
}
