/** The graceful end: requests under way are finished, later ones are told to come again, and only then connections close. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server } from 'node:https';
import type { FastifyInstance } from 'fastify';
import { refuse } from './envelope.ts';
import { operationOf } from './http-errors.ts';

/**
 * Makes `app.close()` wait for every request that is there whole, however long it takes; until then new ones get a 503.
 * @param bodyDeadline what has not arrived whole in this time after the end began is cut off, in milliseconds
 */
export function finishBeforeClosing(app: FastifyInstance<Server>, bodyDeadline: number): void {
  const underWay = new Map<ServerResponse, IncomingMessage>();
  const waiting: (() => void)[] = [];
  let closing = false;

  app.addHook('onRequest', async (request, reply) => {
    if (closing) {
      request.log.info({ operation: operationOf(request), outcome: 'refused', reason: 'stopping', status: 503 });
      return refuse(reply.header('retry-after', '1'), 503, 'the server is stopping');
    }
    const { raw } = reply;
    underWay.set(raw, request.raw);
    raw.once('close', () => {
      underWay.delete(raw);
      if (underWay.size === 0) for (const resolve of waiting.splice(0)) resolve();
    });
    return undefined;
  });
  app.addHook('preClose', async () => {
    closing = true;
    if (underWay.size === 0) return;
    const cutOff = setTimeout(() => {
      for (const request of underWay.values()) if (!request.complete) request.destroy();
    }, bodyDeadline);
    await new Promise<void>((resolve) => waiting.push(resolve));
    clearTimeout(cutOff);
  });
}
