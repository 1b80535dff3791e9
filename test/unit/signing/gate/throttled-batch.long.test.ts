/** A batch at a service that rejects more than 20 requests a second, reports included, and does not say when to come back. */

import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { signFiles } from '../../../../src/signing/sign-files.ts';
import { openServiceClient } from '../../../support/services/service-client.ts';
import { journalScene, signDigest } from '../journal-scene.ts';

const MOST_PER_SECOND = 20;

it.each([0, 100])(
  'none of 100 files fails, with answers after %i ms',
  async (milliseconds) => {
    await using scene = await journalScene();
    const arrivals: number[] = [];
    const signed: string[] = [];
    const reported: string[] = [];
    const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
      const { id, digest } = JSON.parse((await request.toArray()).join(''));
      const now = performance.now();
      arrivals.push(now);
      const isThrottled = arrivals.filter((at) => at > now - 1000).length > MOST_PER_SECOND;
      await pause(milliseconds);
      if (isThrottled) return void response.writeHead(429).end();
      if (digest === undefined) reported.push(id);
      else signed.push(digest);
      const signature = digest && signDigest(scene.key, Buffer.from(digest, 'base64')).toString('base64');
      const data = signature === undefined ? null : { id: `record-${signed.length}`, signature };
      response.writeHead(200).end(JSON.stringify({ code: 0, message: 'ok', data }));
    };
    const server = http.createServer((request, response) => void answer(request, response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const { service } = await openServiceClient({ baseUrl: `http://127.0.0.1:${port}`, realClock: true });
    try {
      const names = Array.from({ length: 100 }, (_, index) => `${index}.exe`);
      const programs = await Promise.all(names.map((name) => scene.program(name)));
      const { summary } = await signFiles(programs, scene.signing(await scene.open(), { service, concurrency: 16 }));
      expect(summary).toMatchObject({ signed: 100, failed: 0 });
      expect([signed.length, new Set(signed).size, reported.length]).toEqual([100, 100, 100]);
      expect(arrivals.length).toBeGreaterThan(200);
    } finally {
      await service.close();
      server.close();
    }
  },
  120_000,
);
