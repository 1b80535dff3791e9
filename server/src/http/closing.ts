import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server } from 'node:https';
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { operationOf, refuseForNow } from './answers.ts';

/**
 * Makes `app.close()` wait without a time limit for every request that has arrived completely. New requests are
 * answered with 503.
 * @param bodyDeadline milliseconds after which clients with incomplete requests or unread responses are disconnected
 */
export function finishBeforeClosing(app: FastifyInstance<Server>, bodyDeadline: number): void {
  const underWay = new Map<ServerResponse, IncomingMessage>();
  const waiting: (() => void)[] = [];
  const watched = new WeakSet<Socket>();
  let closing = false;
  const finish = (response: ServerResponse) => {
    underWay.delete(response);
    if (underWay.size === 0) for (const resolve of waiting.splice(0)) resolve();
  };

  app.addHook('onRequest', async (request, reply) => {
    if (closing) {
      request.log.info({ operation: operationOf(request), outcome: 'refused', reason: 'stopping', status: 503 });
      return refuseForNow(reply, 1, 'the server is stopping');
    }
    const { raw } = reply;
    const { socket } = request.raw;
    underWay.set(raw, request.raw);
    raw.once('close', () => finish(raw));
    if (!watched.has(socket)) {
      watched.add(socket);
      // If a connection closes, Node does not close a pipelined response that waits for earlier responses.
      socket.once('close', () => {
        for (const [response, { socket: its }] of underWay) if (its === socket) finish(response);
      });
    }
    return undefined;
  });
  app.addHook('preClose', async () => {
    closing = true;
    if (underWay.size === 0) return;
    // The interval repeats, because clients may also leave later responses unread.
    const cutOff = setInterval(() => {
      for (const [response, request] of underWay) {
        if (!request.complete || response.writableEnded) request.destroy();
      }
    }, bodyDeadline);
    await new Promise<void>((resolve) => waiting.push(resolve));
    clearInterval(cutOff);
  });
}

/** Calls `work` after the response was passed to the network (`sent` is true) or the connection was closed. */
export type AfterSending = (reply: FastifyReply, work: (sent: boolean) => Promise<void>) => void;

/** @param onClose registers work that must finish before the shutdown continues */
export function createAfterSending(onClose: (wait: () => Promise<void>) => void): AfterSending {
  const underWay = new Set<Promise<void>>();
  onClose(async () => {
    await Promise.all(underWay);
  });
  return (reply, work) => {
    const { raw } = reply;
    const { socket } = reply.request.raw;
    const run = async (): Promise<void> => {
      const sent = await new Promise<boolean>((resolve) => {
        const gone = () => resolve(false); // has no effect after a finish
        if (raw.destroyed || socket.destroyed) gone();
        raw.once('finish', () => resolve(true));
        raw.once('close', gone);
        // If a connection closes, Node does not close a pipelined response that waits for earlier responses.
        socket.once('close', gone);
        raw.once('finish', () => socket.off('close', gone));
      });
      try {
        await work(sent);
      } catch (error) {
        reply.log.error({ err: error }, 'an error occurred in a task that runs after the response');
      }
    };
    const promise = run();
    underWay.add(promise);
    void promise.finally(() => underWay.delete(promise));
  };
}
