import type net from 'node:net';

/** Also matches an incomplete status line. */
const STATUS_LINE = /^HTTP\/(?:1\.[01] |.{0,3}$)/;
/** Interim responses, except 101, have no content (RFC 9110, section 15.2). */
const INTERIM = /^HTTP\/1\.[01] 1(?!01)/;
const NOTHING = Buffer.alloc(0);
const END = /\r?\n\r?\n/;

/**
 * Repairs response heads that undici's parser rejects, if they have only one meaning: a rejected response might contain
 * a signature that was paid for. Skips interim responses, ends lines with CRLF (RFC 9112, section 2.2) and merges
 * identical Content-Length values (RFC 9110, section 8.6). Closes the connection if it is unclear where the response
 * ends; `data` of the error then contains the bytes after the head. Passes other heads, and heads of more than `limit`
 * bytes, on unchanged.
 */
export function repairAnswerHeads(socket: net.Socket, limit: number): net.Socket {
  let held: Buffer = NOTHING;
  // Runs before undici's listener, which reads the data that this listener puts back.
  return socket.on('readable', () => {
    const read: Buffer | null = socket.read();
    let chunk = held.length > 0 ? Buffer.concat(read === null ? [held] : [held, read]) : (read ?? held);
    held = NOTHING;
    while (STATUS_LINE.test(chunk.toString('latin1', 0, 12))) {
      const text = chunk.toString('latin1', 0, limit);
      const end = END.exec(text);
      if (end === null) {
        // If there is no data, the response has ended.
        if (read === null || chunk.length >= limit) break;
        held = chunk;
        return;
      }
      const length = end.index + end[0].length;
      if (!INTERIM.test(text)) {
        const given = text.slice(0, length);
        if (isUsual(given)) break;
        const head = repair(given);
        const rest = chunk.subarray(length);
        const ambiguity = ambiguityOf(head);
        if (ambiguity !== undefined) {
          socket.destroy(Object.assign(new Error(ambiguity), { data: `${rest}` }));
          return;
        }
        chunk = Buffer.concat([Buffer.from(head, 'latin1'), rest]);
        break;
      }
      chunk = chunk.subarray(length);
    }
    if (chunk.length > 0) socket.unshift(chunk);
  });
}

const BARE_LF = /(?<!\r)\n/;

/** Without this shortcut, repairs would take 3% of the processor time of a run with 300 small programs. */
function isUsual(head: string): boolean {
  const [length, ...others] = head.match(/^content-length.*$/gim) ?? [];
  const isPlain = length !== undefined && others.length === 0 && /^content-length: \d+$/i.test(length);
  return isPlain && !BARE_LF.test(head) && !TRANSFER_ENCODING.test(head);
}

function repair(head: string): string {
  const lengths = new Set<string>();
  const lines = head.split(/\r?\n/).flatMap((line) => {
    const [, value] = /^content-length[ \t]*:(.*)$/i.exec(line) ?? [];
    if (value === undefined) return [line];
    const values = new Set(value.split(',').map((one) => one.trim()));
    const [only = ''] = values;
    const isKnown = values.size === 1 && lengths.has(only);
    lengths.add(only);
    return isKnown ? [] : [values.size === 1 ? `Content-Length: ${only}` : line];
  });
  return lines.join('\r\n');
}

const TRANSFER_ENCODING = /^transfer-encoding[ \t]*:/im;

/** Such a response may be part of an attack (RFC 9112, section 6.3). */
function ambiguityOf(head: string): string | undefined {
  const lengths = head.match(/^content-length[ \t]*:.*$/gim) ?? [];
  const status = `HTTP ${head.slice(9, 12)}`;
  if (lengths.length > 1 || lengths[0]?.includes(',')) return `${status} with different values of Content-Length`;
  const isChunked = lengths.length === 1 && TRANSFER_ENCODING.test(head);
  return isChunked ? `${status} with both Content-Length and Transfer-Encoding` : undefined;
}
