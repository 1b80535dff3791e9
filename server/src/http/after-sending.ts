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
    const { socket } = reply.request.raw;
    const run = async (): Promise<void> => {
      const sent = await new Promise<boolean>((resolve) => {
        const gone = () => resolve(false); // after a finish this comes too late to matter
        if (raw.destroyed || socket.destroyed) gone();
        raw.once('finish', () => resolve(true));
        raw.once('close', gone);
        // An answer that waits for those before it on its connection is not closed with the connection.
        socket.once('close', gone);
        raw.once('finish', () => socket.off('close', gone));
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
