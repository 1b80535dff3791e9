/** The signature algorithms that SignerInfos name (RFC 3370, 5753, 5754, 8419), by the kind of key that they go with. */

/** As node:crypto calls kinds of keys. */
const ALGORITHMS: Readonly<Record<string, RegExp>> = {
  // With no digest named, with MD2 to SHA-512/256, RSASSA-PSS; SHA-3; and those of OIW and X.500 that old tools wrote.
  rsa: /^(1\.2\.840\.113549\.1\.1\.([1-5]|1[0-6])|2\.16\.840\.1\.101\.3\.4\.3\.1[3-6]|1\.3\.14\.3\.2\.([234]|15|29)|2\.5\.8\.1\.1)$/,
  'rsa-pss': /^1\.2\.840\.113549\.1\.1\.10$/,
  dsa: /^(1\.2\.840\.10040\.4\.[13]|2\.16\.840\.1\.101\.3\.4\.3\.[1-8]|1\.3\.14\.3\.2\.(12|13|27))$/,
  // The key's own identifier and the digest left to digestAlgorithm are what Windows writes.
  ec: /^(1\.2\.840\.10045\.(2\.1|4\.1|4\.3(\.[1-4])?)|2\.16\.840\.1\.101\.3\.4\.3\.(9|1[0-2]))$/,
  ed25519: /^1\.3\.101\.112$/,
  ed448: /^1\.3\.101\.113$/,
};

/** Whether `oid` (dotted) is one of the algorithms that a key of this kind signs with. */
export function isAlgorithmOf(keyType: string | undefined, oid: string): boolean {
  return keyType !== undefined && ALGORITHMS[keyType]?.test(oid) === true;
}
