/** Revocation by what the certificates' addresses answer. openssl ocsp makes the first answers, which the others are like. */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseCrl } from '../../../src/certificates/revocation/crl.ts';
import { buildOcspRequest } from '../../../src/certificates/revocation/ocsp.ts';
import type { Finding } from '../../../src/errors/finding.ts';
import { createHttp } from '../../../src/http/http.ts';
import { loadRoots } from '../../../src/http/roots.ts';
import { createRevocation } from '../../../src/verifying/revocation.ts';
import { listen } from '../../support/network/listen.ts';
import { openssl } from '../../support/programs/openssl.ts';
import { forAll } from '../../support/set-up.ts';
import {
  answerOcsp,
  type CrlRequest,
  type Made,
  type MakeRequest,
  make,
  makeCrl,
  type OcspStatus,
  type Reason,
  SIGNER,
} from './support/made-pki.ts';

/** openssl ocsp answers as of now. */
const NOW = new Date();
const DAY = 24 * 60 * 60 * 1000;
const LAST_YEAR = new Date(NOW.getTime() - 365 * DAY);
const RESPONDER = ['keyUsage=digitalSignature', 'extendedKeyUsage=OCSPSigning', 'noCheck=ignored'];

type Answer = (body: Uint8Array) => Uint8Array | number;

let answers: Record<string, Answer>;
let requests: { readonly method: string; readonly url: string; readonly type: string | undefined; body: Buffer }[];
/** Errors in making answers: a missing answer must not pass for an answer that does not count. */
let failures: unknown[];

const { port } = await forAll(listen(createServer(handle)));
const base = `http://127.0.0.1:${port}`;
const http = createHttp({ roots: await loadRoots(undefined, {}), userAgent: 'test' });
const issuer = make({ subject: 'Issuer' });
const leaf = named([`OCSP;URI:${base}/ocsp`], [`URI:${base}/list.crl`]);
beforeEach(() => {
  answers = {};
  requests = [];
  failures = [];
});
afterEach(() => {
  expect(failures).toEqual([]);
});
afterAll(() => http.close());

async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method = '', url = '', headers } = request;
  const body = Buffer.concat(await request.toArray());
  requests.push({ method, url, type: headers['content-type'], body });
  let answer: Uint8Array | number = 404;
  try {
    answer = answers[url]?.(body) ?? 404;
  } catch (thrown) {
    failures.push(thrown);
  }
  if (typeof answer === 'number') response.writeHead(answer, { location: `${base}/elsewhere` }).end();
  else response.end(answer);
}

/** A certificate with addresses of responders and lists. */
function named(responders: readonly string[], lists: readonly string[], by = issuer): Made {
  const extensions = [
    ...SIGNER,
    ...(responders.length === 0 ? [] : [`authorityInfoAccess=${responders.join(',')}`]),
    ...(lists.length === 0 ? [] : [`crlDistributionPoints=${lists.join(',')}`]),
  ];
  return make({ subject: 'Publisher', issuer: by, extensions });
}

const ocsp = (statuses: readonly OcspStatus[], signer = issuer): Answer => {
  return (request) => answerOcsp(request, { signer, statuses, producedAt: NOW });
};
const list = (request: Partial<CrlRequest> = {}): Answer => {
  const der = makeCrl({ issuer, ...fresh, ...request });
  return () => der;
};
const fresh = { from: '20200101000000Z', to: '20400101000000Z' };
const MONTH_AGO = new Date(NOW.getTime() - 30 * DAY);
const RECENTLY = `${MONTH_AGO.toISOString().replace(/[-:T]/g, '').slice(0, 14)}Z`;
const revokedFor = (reason: Reason) => ({ date: RECENTLY, reason });
const SUPERSEDED = revokedFor('superseded');
const LISTED = { revoked: [{ certificate: leaf, ...SUPERSEDED }] };
const UNKNOWN = ['revocation-unknown'];
const REVOKED = ['certificate-revoked'];
const AFTER_EXPIRY = { at: NOW, now: new Date(NOW.getTime() + 8 * DAY) };

interface Asked {
  readonly certificate?: Made;
  readonly at?: Date;
  readonly now?: Date;
}

async function ask({ certificate = leaf, at = LAST_YEAR, now = NOW }: Asked = {}): Promise<readonly Finding[]> {
  const revocation = createRevocation({ crls: [], http, now, deadlineMilliseconds: 5000 });
  return revocation.examine(certificate.parsed, issuer.parsed, at);
}

/** Codes of findings; those of warnings in brackets. */
const codes = (findings: readonly Finding[]) =>
  findings.map(({ code, weight }) => (weight === 'untrusted' ? code : `(${code})`));
const paths = () => requests.map(({ method, url }) => `${method} ${url}`);

it('the request is the one of openssl, without a nonce, and sent as OCSP over HTTP', async () => {
  answers = { '/ocsp': ocsp(['good']) };
  await ask();
  const files = { 'ca.pem': issuer.pem, 'leaf.pem': leaf.pem };
  const args = ['ocsp', '-issuer', 'ca.pem', '-cert', 'leaf.pem', '-no_nonce', '-reqout', 'made'];
  const body = openssl(args, files, 'made');
  expect(requests).toEqual([{ method: 'POST', url: '/ocsp', type: 'application/ocsp-request', body }]);
});

describe('an OCSP answer', () => {
  it.each<[Made, readonly string[]]>([
    [issuer, []],
    [issuer, ['-resp_key_id', '-resp_no_certs']],
    [responder(), ['-resp_key_id', '-rmd', 'sha384']],
  ])('of openssl counts: good (%#)', async (signer, args) => {
    const files = {
      'ca.pem': issuer.pem,
      'by.pem': signer.pem,
      'by.key': signer.key.export({ type: 'pkcs8', format: 'pem' }),
      'index.txt': `V\t400101000000Z\t\t${leaf.parsed.x509.serialNumber}\tunknown\t/CN=any\n`,
    };
    const from = ['-index', 'index.txt', '-CA', 'ca.pem', '-rsigner', 'by.pem', '-rkey', 'by.key', '-ndays', '7'];
    const command = ['ocsp', ...from, '-reqin', 'request', '-respout', 'answer', ...args];
    answers = { '/ocsp': (request) => openssl(command, { ...files, request }, 'answer') };
    expect(await ask()).toEqual([]);
  });

  it('of the issuer itself counts: revoked, before or after the certificate was used', async () => {
    answers = { '/ocsp': ocsp([SUPERSEDED]) };
    const [before] = await ask({ at: NOW });
    expect(before).toMatchObject({ weight: 'untrusted', message: expect.stringContaining('it was superseded') });
    expect(codes(await ask())).toEqual(['(certificate-revoked)']);
  });

  /** An answer of a responder with these members. */
  const by = (request: Partial<MakeRequest>) => ocsp(['good'], responder(request));
  const KEY_USAGE = ['keyUsage=keyEncipherment', 'extendedKeyUsage=OCSPSigning'];
  const [other, serial] = [make({ subject: 'Other' }), leaf.parsed.x509.serialNumber];

  it.each<[string, RegExp, () => Answer]>([
    ['of a responder without the purpose', /does not permit OCSP responses/, () => by({ extensions: SIGNER })],
    ['of a responder with another keyUsage', /does not permit signatures/, () => by({ extensions: KEY_USAGE })],
    ["of another authority's responder", /another authority issued/, () => by({ issuer: other })],
    [
      'of an authority of the same name and another key',
      /another authority issued/,
      () => ocsp(['good'], make({ subject: 'Issuer' })),
    ],
    ['of a responder whose certificate has expired', /has expired/, () => by({ to: '20250101000000Z' })],
    ['that does not know the certificate', /does not know/, () => ocsp(['unknown'])],
    ['about another serial number', /another certificate/, () => about(make({ subject: 'Publisher', issuer }))],
    [
      "about another authority's certificate of the same serial number",
      /another certificate/,
      () => about(make({ subject: 'Publisher', issuer: other, serial }), other),
    ],
    ['that was changed', /signature was not made by/, () => changed(ocsp(['good']))],
    [
      'that is cut off',
      /a length of \d+ bytes, but only/,
      () => (body) => bytesOf(ocsp(['good']), body).subarray(0, 200),
    ],
    ['that refuses', /does not accept requests/, () => () => Uint8Array.of(0x30, 3, 0x0a, 1, 6)],
    ['with an HTTP error', /status 500/, () => () => 500],
    ['with a redirect, which is not followed', /status 302/, () => () => 302],
    ['that is too large', /larger than 65536/, () => () => Buffer.alloc(65 * 1024, 0x30)],
  ])('%s does not count', async (_, reason, answer) => {
    answers = { '/ocsp': answer() };
    const findings = await ask();
    expect(findings).toMatchObject([{ code: 'revocation-unknown', message: expect.stringMatching(reason) }]);
    expect(paths()).toEqual(['POST /ocsp', 'GET /list.crl']);
  });

  it('that says several things about the certificate counts by the worst of them', async () => {
    for (const [first, second, expected] of [
      ['good', SUPERSEDED, REVOKED],
      [SUPERSEDED, 'unknown', REVOKED],
      ['good', 'unknown', UNKNOWN],
      ['good', 'good', []],
    ] as const) {
      answers = { '/ocsp': ocsp([first, second]) };
      expect(codes(await ask({ at: NOW }))).toEqual(expected);
    }
  });

  it('that says "revoked" counts after it has expired, and for a lost key whenever it was used', async () => {
    answers = { '/ocsp': ocsp([revokedFor('certificateHold')]) };
    expect(codes(await ask(AFTER_EXPIRY))).toEqual(REVOKED);
    answers = { '/ocsp': ocsp([revokedFor('keyCompromise')]) };
    expect(codes(await ask())).toEqual(REVOKED);
    // A list in a file with a revocation that ends less does not change this.
    const crls = [parseCrl(makeCrl({ issuer, ...fresh, ...LISTED }))];
    const revocation = createRevocation({ crls, http, now: NOW });
    expect(codes(await revocation.examine(leaf.parsed, issuer.parsed, LAST_YEAR))).toEqual(REVOKED);
  });

  it('that says "revoked" counts before that of another responder', async () => {
    const certificate = named([`OCSP;URI:${base}/first`, `OCSP;URI:${base}/second`], []);
    answers = { '/first': ocsp(['good']), '/second': ocsp([SUPERSEDED]) };
    expect(codes(await ask({ certificate, at: NOW }))).toEqual(REVOKED);
  });

  it('does not count when it has expired, or is of the future', async () => {
    answers = { '/ocsp': ocsp(['good']) };
    const daysLater = (days: number) => ask({ now: new Date(NOW.getTime() + days * DAY) });
    expect(codes(await daysLater(6))).toEqual([]);
    expect(codes(await daysLater(8))).toEqual(UNKNOWN);
    expect(codes(await daysLater(-1))).toEqual(UNKNOWN);
  });
});

function responder(request: Partial<MakeRequest> = {}): Made {
  return make({ subject: 'Responder', issuer, extensions: RESPONDER, ...request });
}

/** An answer about this certificate, whatever the request is about, signed by the issuer. */
function about(certificate: Made, authority = issuer): Answer {
  const request = buildOcspRequest(certificate.parsed, authority.parsed);
  return () => bytesOf(ocsp(['good']), request);
}

const bytesOf = (answer: Answer, body: Uint8Array) => Buffer.from(answer(body) as Uint8Array);

function changed(answer: Answer): Answer {
  return (body) => {
    const bytes = bytesOf(answer, body);
    bytes[bytes.indexOf('Issuer')] = 0x4a; // in the name of the responder
    return bytes;
  };
}

describe('a CRL', () => {
  it('is fetched when no OCSP answer counts', async () => {
    answers = { '/list.crl': list() };
    expect(await ask()).toEqual([]);
    expect(paths()).toEqual(['POST /ocsp', 'GET /list.crl']);
    answers = { '/list.crl': list(LISTED) };
    expect(codes(await ask({ at: NOW }))).toEqual(REVOKED);
  });

  it('is fetched once for all certificates that name it', async () => {
    answers = { '/list.crl': list() };
    const revocation = createRevocation({ crls: [], http, now: NOW });
    for (const other of [named([], [`URI:${base}/list.crl`]), leaf]) {
      expect(await revocation.examine(other.parsed, issuer.parsed, NOW)).toEqual([]);
    }
    expect(paths()).toEqual(['GET /list.crl', 'POST /ocsp']);
  });
});

describe('a missing answer', () => {
  it('is a finding with every reason', async () => {
    const [finding] = await ask();
    expect(finding?.message).toContain(`${base}/ocsp: HTTP status 404; ${base}/list.crl: HTTP status 404`);
  });

  it('comes of addresses that are not for the web, or hold a password: they are not called', async () => {
    const host = base.slice('http://'.length);
    const certificate = named(
      ['OCSP;URI:file:///etc/passwd', `OCSP;URI:http://user:secret@${host}/ocsp`],
      [`URI:ldap://${host}/cn`, `URI:ftp://${host}/list.crl`, 'URI:nonsense'],
    );
    expect(codes(await ask({ certificate }))).toEqual(UNKNOWN);
    expect(requests).toEqual([]);
  });

  it('is looked for at three addresses of each kind at most', async () => {
    const many = (kind: string) => Array.from({ length: 6 }, (_, index) => `${kind}URI:${base}/${index}`);
    await ask({ certificate: named(many('OCSP;'), many('')) });
    expect(requests).toHaveLength(6);
  });

  it('is searched for once, however many files ask, and a list in a file then counts', async () => {
    const revocation = createRevocation({ crls: [parseCrl(makeCrl({ issuer, ...fresh }))], http, now: NOW });
    for (const certificate of [leaf, leaf]) {
      expect(await revocation.examine(certificate.parsed, issuer.parsed, NOW)).toEqual([]);
    }
    expect(requests).toHaveLength(2);
  });
});
