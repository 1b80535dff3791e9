/** JARs whose signature block has several signers, or carries content: what the table of verdicts is about. */

import { octetString } from '../../../src/asn1/write.ts';
import type { HostileCms } from '../../support/signed-files/hostile-cms.ts';
import {
  hostileJar,
  MAIN_SECTION,
  section,
  signatureBlock,
  signatureFile,
} from '../../support/signed-files/hostile-jar.ts';
import { makePki, testKey } from '../../support/signed-files/pki.ts';

/** @returns the root, and the bytes of each file by its name */
export function makeBlockArchives() {
  const [ours, theirs] = [makePki('Ours'), makePki('Theirs')];
  const signer = ours.leaf();
  const second = ours.leaf({ key: testKey('rsa-2048', 'second') });
  const expired = ours.leaf({
    key: testKey('rsa-2048', 'expired'),
    notBefore: new Date('2020-01-01'),
    notAfter: new Date('2021-01-01'),
  });
  const foreign = theirs.leaf();
  const all = [signer, second, expired, foreign, ours.intermediate, ours.root, theirs.intermediate, theirs.root];
  const entry = section('a', 'a');
  const manifest = MAIN_SECTION + entry;
  const file = signatureFile(manifest, new Map([['a', entry]]));
  const other = file.replace('Signature-Version: 1.0', 'Signature-Version: 1.0\r\nX: y');
  const archive = (cms: Partial<HostileCms>, contents = file) => {
    const block = signatureBlock(file, { signer, certificates: all.map(({ der }) => der), ...cms });
    return hostileJar({ manifest, signatures: { A: [contents, block] }, entries: [{ name: 'a', contents: 'a' }] });
  };
  const content = (text: string) => octetString(Buffer.from(text));
  const files = {
    'one.jar': archive({}),
    'two.jar': archive({ coSigners: [second] }),
    'two-foreign.jar': archive({ coSigners: [foreign] }),
    'foreign-first.jar': archive({ signer: foreign, coSigners: [signer] }),
    'two-expired.jar': archive({ coSigners: [expired] }),
    'content.jar': archive({ content: content(file) }),
    'content-other.jar': archive({ content: content(other) }),
    'content-alone.jar': archive({ content: content(file) }, other),
    'content-empty.jar': archive({ content: content('') }),
    'content-type.jar': archive({ contentType: '1.2.3.4' }),
  };
  return { root: ours.root.pem, files };
}
