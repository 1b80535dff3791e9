/** Work that waits until an answer has gone out, or is known not to: the server's end waits for it in turn. */

import type { FastifyReply } from 'fastify';

/** Calls `work` once the answer was handed to the network whole (`sent`) or its connection closed before that. */
export type AfterSending = (reply: FastifyReply, work: (sent: boolean) => Promise<void>) => void;

/** @param onClose registers what the end of the server waits for */
export function createAfterSending(onClose: (wait: () => Promise<void>) => void): AfterSending {
  const underWay = new Set<Promise<void>>();
  onClose(async () => {
    await Promise.all(underWay);
  });
  return (reply, work) => {
    const { raw } = reply;
    const run = async (): Promise<void> => {
      const sent = await new Promise<boolean>((resolve) => {
        if (raw.destroyed) resolve(false);
        raw.once('finish', () => resolve(true));
        raw.once('close', () => resolve(false)); // after a finish this comes too late to matter
      });
      try {
        await work(sent);
      } catch (error) {
        reply.log.error({ err: error }, 'work after an answer failed');
      }
    };
    const promise = run();
    underWay.add(promise);
    void promise.finally(() => underWay.delete(promise));
  };
}
