import { createHash } from 'node:crypto';
import {
  COUNTER_SIGNATURE,
  SPC_INDIVIDUAL_PURPOSE,
  SPC_RFC3161_TIMESTAMP,
  SPC_SP_OPUS_INFO,
  SPC_STATEMENT_TYPE,
} from '../asn1/object-identifiers.ts';
import { readElement } from '../asn1/read.ts';
import { objectIdentifier, sequence } from '../asn1/write.ts';
import { NODE_DIGEST_NAME } from '../crypto/algorithms.ts';
import { prepareCms, type SignatureProfile } from '../format/cms.ts';
import type { SigningContext } from '../format/signable-file.ts';
import { programInfo } from './program-info.ts';
import { type SpcData, spcSpOpusInfo } from './spc-structures.ts';

export const AUTHENTICODE_PROFILE: SignatureProfile = {
  signedAttributes({ formatOptions }) {
    return [
      // signtool writes "individual" for every certificate, and verifiers ignore the difference from "commercial".
      { type: SPC_STATEMENT_TYPE, value: sequence(objectIdentifier(SPC_INDIVIDUAL_PURPOSE)) },
      { type: SPC_SP_OPUS_INFO, value: spcSpOpusInfo(programInfo(formatOptions)) },
    ];
  },
  carriesRoot: false,
  timestampTypes: [SPC_RFC3161_TIMESTAMP, COUNTER_SIGNATURE],
  readsNested: true,
  verifier: 'Windows',
};

export function prepareAuthenticode(context: SigningContext, content: SpcData) {
  // In PKCS#7, messageDigest excludes the tag and the length of the content.
  const { contents } = readElement(content.value, 'content');
  const messageDigest = createHash(NODE_DIGEST_NAME[context.algorithm]).update(contents).digest();
  return prepareCms(AUTHENTICODE_PROFILE, context, { ...content, messageDigest });
}
