/** What a file with Authenticode signatures can be without being a PE: a content type of its own, a list of digests, page hashes. */

import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { octetString, sequence } from '../../../src/asn1/write.ts';
import { authenticodeFile } from '../../../src/authenticode/authenticode-file.ts';
import { type Container, digestIn } from '../../../src/authenticode/container.ts';
import { spcContent } from '../../../src/authenticode/spc-structures.ts';
import { memorySource } from '../../../src/bytes/byte-source.ts';
import { NODE_DIGEST_NAME } from '../../../src/crypto/algorithms.ts';
import { createWorkBudget } from '../../../src/crypto/work-budget.ts';
import type { Envelope } from '../../../src/formats/format.ts';
import { checkPlaced } from '../../../src/signing/changes/check-placed.ts';
import { signingContext } from '../../support/signed-files/signing-context.ts';
import { makeThrowawaySigner, type ThrowawaySigner } from '../../support/signed-files/throwaway-signer.ts';
import { applyPatch } from '../formats/support/apply-patch.ts';

const LIST = '1.3.6.1.4.1.55555.4';
const BODY_LENGTH = 16;

/** The body has a fixed length; whatever follows is the CMS. */
function fileOf(bytes: Buffer, own: Partial<Container>) {
  const [body, cms] = [bytes.subarray(0, BODY_LENGTH), bytes.subarray(BODY_LENGTH)];
  return authenticodeFile(
    {
      source: memorySource(bytes),
      kind: { dataType: LIST },
      entries: async () => (cms.length === 0 ? [] : [{ location: 'end', cms, examine: async () => [] }]),
      obstacle: undefined,
      measure: async (_content, algorithms) => ({
        digests: new Map(
          algorithms.map((name) => [
            name,
            createHash(NODE_DIGEST_NAME[name as 'SHA256'])
              .update(body)
              .digest(),
          ]),
        ),
      }),
      content: async ({ algorithm }, measured) =>
        spcContent({ type: LIST, value: sequence() }, algorithm, digestIn(measured, algorithm)),
      put: (signature) => [{ offset: BODY_LENGTH, remove: cms.length, insert: [signature] }],
      take: async () => [{ offset: BODY_LENGTH, remove: cms.length, insert: [] }],
      examine: async () => [],
      ...own,
    },
    createWorkBudget(),
  );
}

/** As a catalog has it: it signs its own list, in which there is no digest of the file. */
const catalog = (bytes: Buffer): Partial<Container> => {
  const list = sequence(octetString(bytes.subarray(0, BODY_LENGTH)));
  return {
    kind: { contentType: LIST, dataType: LIST },
    measure: async (_content, algorithms) => ({
      digests: new Map(
        algorithms.map((name) => [
          name,
          createHash(NODE_DIGEST_NAME[name as 'SHA256'])
            .update(list.subarray(2))
            .digest(),
        ]),
      ),
    }),
    content: async () => ({ type: LIST, value: list }),
  };
};

/** As packages have it: several digests in a row, each behind four letters. */
const digestList = (bytes: Buffer): Partial<Container> => ({
  measure: async (_content, algorithms) => ({
    digests: new Map(
      algorithms.map((name) => {
        const digests = ['AXPC', 'AXCD', 'AXCT', 'AXBM', 'AXCI'].flatMap((part) => [
          Buffer.from(part),
          createHash(NODE_DIGEST_NAME[name as 'SHA256'])
            .update(part)
            .update(bytes.subarray(0, BODY_LENGTH))
            .digest(),
        ]);
        return [name, Buffer.concat([Buffer.from('APPX'), ...digests])];
      }),
    ),
  }),
});

/** As page hashes are: said in the data value, in addition to the digest. */
const pages =
  (claimed: string) =>
  (_bytes: Buffer): Partial<Container> => ({
    content: async ({ algorithm }, measured) =>
      spcContent(
        { type: LIST, value: sequence(octetString(Buffer.from(claimed))) },
        algorithm,
        digestIn(measured, algorithm),
      ),
    compare: async ({ dataValue }) =>
      Buffer.from(dataValue?.contents.subarray(2) ?? []).toString() === 'right'
        ? []
        : [{ code: 'page-hashes-differ', message: 'A page is not what was signed.', weight: 'broken' }],
  });

const unsigned: Buffer = Buffer.alloc(BODY_LENGTH, 'body');
let signer: ThrowawaySigner;
beforeAll(async () => {
  signer = await makeThrowawaySigner();
});

async function signed(
  own: (bytes: Buffer) => Partial<Container>,
  bytes: Buffer = unsigned,
  mode: 'replace' | 'append' = 'replace',
) {
  const context = signingContext({ algorithm: 'SHA512', chain: signer.chain });
  const prepared = await fileOf(bytes, own(bytes)).prepare(context, mode);
  const embedding = prepared.embed(prepared.seal(signer.sign(prepared.toBeSigned, 'SHA512')));
  const result = applyPatch(bytes, embedding.patch);
  await fileOf(result, own(result)).verifyResult(embedding);
  return { result, embedding };
}

async function attached(
  own: (bytes: Buffer) => Partial<Container>,
  bytes: Buffer,
  envelope: Envelope,
): Promise<Buffer> {
  const embedding = await fileOf(bytes, own(bytes)).attach(envelope);
  const result = applyPatch(bytes, embedding.patch);
  await checkPlaced(fileOf(result, own(result)), embedding);
  return result;
}

const findingsIn = async (bytes: Buffer, own: Partial<Container>) => {
  const [signature] = await fileOf(bytes, own).signatures();
  return ((await signature?.examine()) ?? []).map(({ code }) => code);
};

describe.each([
  ['a content type of its own', catalog],
  ['a list of digests', digestList],
  ['a claim besides its digest', pages('right')],
] as const)('a file with %s', (_name, own) => {
  it('is signed, appended to, attached to and checked, and its changes are found', async () => {
    const { result, embedding } = await signed(own);
    expect(await findingsIn(result, own(result))).toEqual([]);
    const twice = await signed(own, result, 'append');
    const [outer] = await fileOf(twice.result, own(twice.result)).signatures();
    expect(await outer?.nested[0]?.examine()).toEqual([]);
    expect(await attached(own, unsigned, embedding.sealed)).toEqual(result);

    const changed = Buffer.from(result);
    changed[3] = 0;
    expect(await findingsIn(changed, own(changed))).toEqual(['content-digest-differs']);
    const file = fileOf(changed, own(changed));
    await expect(file.verifyResult(embedding)).rejects.toMatchObject({ code: 'result-damaged' });
    await expect(attached(own, changed, embedding.sealed)).rejects.toMatchObject({ code: 'not-its-signature' });
    await expect(signed(own, changed, 'append')).rejects.toMatchObject({ code: 'cannot-append' });
  });
});

describe('a claim that does not hold', () => {
  it('is a finding, and neither appended to nor attached', async () => {
    const wrong = pages('wrong');
    const { result, embedding } = await signed(wrong);
    expect(await findingsIn(result, wrong(result))).toEqual(['page-hashes-differ']);
    await expect(signed(wrong, result, 'append')).rejects.toMatchObject({ code: 'cannot-append' });
    await expect(attached(wrong, unsigned, embedding.sealed)).rejects.toMatchObject({ code: 'not-its-signature' });
  });
});

describe('a content type of its own', () => {
  it('is not that of any other file', async () => {
    const { embedding } = await signed(digestList);
    await expect(attached(catalog, unsigned, embedding.sealed)).rejects.toMatchObject({ code: 'not-its-signature' });
  });
});
