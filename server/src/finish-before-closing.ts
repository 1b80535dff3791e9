/** The graceful end: requests under way are finished, later ones are told to come again, and only then connections close. */

import type { ServerResponse } from 'node:http';
import type { Server } from 'node:https';
import type { FastifyInstance } from 'fastify';
import { refuse } from './envelope.ts';

/** Makes `app.close()` wait for every request that was taken; until then new ones get a 503. */
export function finishBeforeClosing(app: FastifyInstance<Server>): void {
  const underWay = new Set<ServerResponse>();
  const waiting: (() => void)[] = [];
  let closing = false;

  app.addHook('onRequest', async (_request, reply) => {
    if (closing) return refuse(reply.header('retry-after', '1'), 503, 'the server is stopping');
    const { raw } = reply;
    underWay.add(raw);
    raw.once('close', () => {
      underWay.delete(raw);
      if (underWay.size === 0) for (const resolve of waiting.splice(0)) resolve();
    });
    return undefined;
  });
  app.addHook('preClose', async () => {
    closing = true;
    if (underWay.size > 0) await new Promise<void>((resolve) => waiting.push(resolve));
  });
}
