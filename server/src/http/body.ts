import type { FastifyInstance } from 'fastify';
import { RequestError, refuseHttp } from './answers.ts';

const IDENTITY = 'identity';
/** Without `fatal`, invalid bytes would become U+FFFD, and the stored record would differ from what the client sent. */
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Accepts only JSON in UTF-8 (RFC 8259), without a content coding (compression) and without duplicate members. */
export function readJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (_request: unknown, body: Buffer) =>
    parseBody(body),
  );
  app.addHook('preParsing', async (request, reply) => {
    if ((request.headers['content-encoding'] ?? IDENTITY).toLowerCase() === IDENTITY) return;
    refuseHttp(
      request,
      reply.header('accept-encoding', IDENTITY),
      415,
      'the Content-Encoding header is not "identity"',
    );
  });
}

function parseBody(body: Buffer): unknown {
  let json: string;
  let value: unknown;
  try {
    json = utf8.decode(body);
    value = JSON.parse(json);
  } catch (error) {
    throw new RequestError('invalid request: the body is not JSON in UTF-8', { cause: error });
  }
  if (hasMemberTwice(json)) throw new RequestError('invalid request: the body has a duplicate member');
  return value;
}

/** Parsers disagree on duplicate members, so a proxy and the server could read different requests. */
function hasMemberTwice(json: string): boolean {
  const open: Set<unknown>[] = [];
  for (const [token, text, colon] of json.matchAll(/[{}]|("(?:[^"\\]|\\.)*")(\s*:)?/g)) {
    if (token === '{') open.push(new Set());
    else if (token === '}') open.pop();
    else if (text !== undefined && colon !== undefined) {
      const name: unknown = JSON.parse(text); // "a" and "\u0061" are one name
      const names = open.at(-1);
      if (names?.has(name)) return true;
      names?.add(name);
    }
  }
  return false;
}
