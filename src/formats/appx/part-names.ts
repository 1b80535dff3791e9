export const PARTS = {
  package: 'AppxManifest.xml',
  bundle: 'AppxMetadata/AppxBundleManifest.xml',
  blockMap: 'AppxBlockMap.xml',
  contentTypes: '[Content_Types].xml',
  codeIntegrity: 'AppxMetadata/CodeIntegrity.cat',
  signature: 'AppxSignature.p7x',
} as const;
