/** A way to PostgreSQL on which COMMITs can be lost: before the database gets them, or their answers afterwards. */

import { connect, createServer } from 'node:net';
import { listen } from '../../../test/support/network/listen.ts';

/**
 * `lost`: the connection breaks before the COMMIT reaches the database.
 * `unanswered`: the database gets the COMMIT, and the connection breaks at the same time.
 * `answer lost`: the connection breaks when the database answers.
 * `rolled back`: the database gets a ROLLBACK instead, and answers it as it answers a COMMIT after an error.
 */
export type Fault = 'lost' | 'unanswered' | 'answer lost' | 'rolled back';

/** Simple queries of the protocol: PostgreSQL's documentation, section 55.7, "Query (F)". */
const COMMIT = simpleQuery('commit');
const ROLLBACK = simpleQuery('rollback');

/** @param url of a database that is reached through a socket in a folder */
export async function openCommitProxy(url: string) {
  const database = new URL(url);
  const path = `${database.searchParams.get('host')}/.s.PGSQL.5432`;
  /** Faults of the next COMMITs, in this order. Later COMMITs pass. */
  const faults: Fault[] = [];
  const server = createServer((client) => {
    const behind = connect(path);
    const sockets = [client, behind];
    const breakOff = () => {
      for (const socket of sockets) socket.destroy();
    };
    keep(behind);
    for (const socket of sockets) socket.on('close', breakOff);
    let answerIsLost = false;
    client.on('data', (chunk) => {
      const fault = chunk.equals(COMMIT) ? faults.shift() : undefined;
      if (fault === 'lost') return breakOff();
      if (fault === 'unanswered') return behind.write(chunk, breakOff);
      answerIsLost = fault === 'answer lost';
      return behind.write(fault === 'rolled back' ? ROLLBACK : chunk);
    });
    behind.on('data', (chunk) => (answerIsLost ? breakOff() : client.write(chunk)));
  });
  const { port, keep, stop } = await listen(server);
  return {
    url: `postgres://${database.username}@127.0.0.1:${port}${database.pathname}`,
    faults,
    stop,
  };
}

function simpleQuery(text: string): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(4 + text.length + 1);
  return Buffer.concat([Buffer.from('Q'), length, Buffer.from(`${text}\0`)]);
}
