/** Looks for credentials where they must not be, in every form in which they might have got there. */

export interface KnownCredentials {
  readonly accessKey: string;
  readonly accessSecret: string;
}

export type Forms = ReadonlyMap<string, Buffer>;

/** What is shorter stands in any file by chance, or is a word. */
const SHORTEST = 7;

/** The secret and the Authorization header: as they are, encoded, and within a longer text that was encoded. */
export function formsOf({ accessKey, accessSecret }: KnownCredentials): Forms {
  const secret = Buffer.from(accessSecret, 'utf8');
  const forms: [string, string | Buffer][] = [
    ['as it is', secret],
    ['in JSON', JSON.stringify(accessSecret).slice(1, -1)],
    ['in an address', encodeURIComponent(accessSecret)],
    ['all of it in %XX', [...secret].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')],
    ['in entities of HTML', [...accessSecret].map((character) => `&#${character.codePointAt(0)};`).join('')],
    ['in hexadecimal', secret.toString('hex')],
    ['in capital hexadecimal', secret.toString('hex').toUpperCase()],
    ['in UTF-16', Buffer.from(accessSecret, 'utf16le')],
    ['in the Authorization header', Buffer.from(`${accessKey}:${accessSecret}`).toString('base64').replace(/=+$/, '')],
    ...[0, 1, 2].map((offset): [string, string] => [`in Base64 from ${offset}`, base64Within(secret, offset)]),
  ];
  const told = forms.map(([form, bytes]) => [form, Buffer.from(bytes)] as const);
  return new Map(secret.length === 0 ? [] : told.filter(([, bytes]) => bytes.length >= SHORTEST));
}

export interface Search {
  add(forms: Forms): void;
  /** What the forms that `bytes` hold are called. */
  formsIn(bytes: Buffer): readonly string[];
}

/** Finds any of hundreds of forms, as a whole run of the tests has them, in one pass over the bytes. */
export function createSearch(): Search {
  const byStart = new Map<number, (readonly [form: string, wanted: Buffer])[]>();
  /** Marks of the first four bytes of each form: most other places have none. */
  const marks = new Uint8Array(1 << 16);
  const markOf = (start: number) => Math.imul(start, 0x9e37_79b1) >>> 16;
  return {
    add(forms) {
      for (const [form, wanted] of forms) {
        const start = wanted.readInt32BE();
        marks[markOf(start)] = 1;
        byStart.set(start, [...(byStart.get(start) ?? []), [form, wanted]]);
      }
    },
    formsIn(bytes) {
      const found = new Set<string>();
      let lastFour = 0;
      for (let at = 0; at < bytes.length; at += 1) {
        lastFour = (lastFour << 8) | (bytes[at] ?? 0);
        if (marks[markOf(lastFour)] === 0) continue;
        for (const [form, wanted] of byStart.get(lastFour) ?? []) {
          const start = at - 3;
          if (bytes.subarray(start, start + wanted.length).equals(wanted)) found.add(form);
        }
      }
      return [...found];
    },
  };
}

/** What stays the same of the secret's Base64, whatever stands around it, when it begins at `offset` of three bytes. */
function base64Within(secret: Buffer, offset: number): string {
  const skipped = (3 - offset) % 3;
  const whole = secret.subarray(skipped, skipped + Math.floor((secret.length - skipped) / 3) * 3);
  return whole.toString('base64');
}
