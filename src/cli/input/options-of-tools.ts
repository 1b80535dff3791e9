type Tool = 'signtool' | 'AzureSignTool' | 'jsign' | 'osslsigncode' | 'jarsigner';

const KEY_AT_SERVICE =
  'Leave it out: the key is at the service. Use --code for the number of the certificate there, and --certificate for the certificate itself.';
const NOTHING_LIKE_IT = 'Leave it out: there is nothing like it here.';

/** What to do here, and the names of each tool's options, without the dashes. Short options that are ours too are not listed. */
const FOREIGN_OPTIONS: readonly (readonly [advice: string, names: Readonly<Partial<Record<Tool, string>>>])[] = [
  [
    'Use --algorithm.',
    { signtool: 'fd', AzureSignTool: 'fd file-digest', jsign: 'alg', jarsigner: 'digestalg sigalg' },
  ],
  [
    'Use --timestamp-url: RFC 3161 is the only kind of timestamp here.',
    {
      signtool: 't tr tseal',
      AzureSignTool: 'tr timestamp-rfc3161 timestamp-authenticode',
      jsign: 'tsaurl tsmode m',
      osslsigncode: 'ts',
      jarsigner: 'tsa tsacert',
    },
  ],
  ['Use --timestamp-algorithm.', { signtool: 'td', AzureSignTool: 'td timestamp-digest', jarsigner: 'tsadigestalg' }],
  ['Use --timestamp-policy.', { jarsigner: 'tsapolicyid' }],
  ['Use --description.', { signtool: 'd', AzureSignTool: 'description', jsign: 'n name', osslsigncode: 'n' }],
  ['Use --url.', { signtool: 'du', AzureSignTool: 'du description-url', jsign: 'url', osslsigncode: 'i' }],
  ['Use --append.', { signtool: 'as', AzureSignTool: 'as append-signature', osslsigncode: 'nest' }],
  ['Use --page-hashes.', { signtool: 'ph', AzureSignTool: 'ph page-hashing', osslsigncode: 'ph' }],
  [
    'Leave it out: page hashes are signed with --page-hashes only.',
    { signtool: 'nph', AzureSignTool: 'nph no-page-hashing' },
  ],
  ['Use --replace, which is the default.', { jsign: 'replace' }],
  ['Use --skip-signed or --skip-any-signed.', { AzureSignTool: 's skip-signed' }],
  ['Use --output.', { osslsigncode: 'out', jarsigner: 'signedjar' }],
  [
    'Use --certificate.',
    {
      signtool: 'f ac',
      AzureSignTool: 'ac additional-certificates',
      jsign: 'certfile',
      osslsigncode: 'certs spc ac pkcs12',
      jarsigner: 'certchain',
    },
  ],
  ['Use codesign-remote inspect --certificates.', { jarsigner: 'certs' }],
  ['Use --signer-name.', { jarsigner: 'sigfile' }],
  ['Use --concurrency.', { AzureSignTool: 'mdop max-degree-of-parallelism' }],
  ['Use @list.txt for a file with one path on each line.', { AzureSignTool: 'ifl input-file-list' }],
  ['Use only the path, without an option.', { osslsigncode: 'in sigin' }],
  ['Use --ca-file.', { osslsigncode: 'HTTPS-CAfile' }],
  ['Use codesign-remote verify --roots.', { osslsigncode: 'CAfile TSA-CAfile' }],
  ['Use codesign-remote verify --crl-file.', { osslsigncode: 'CRLfile HTTPS-CRLfile TSA-CRLfile' }],
  ['Use codesign-remote verify --check-revocation.', { jarsigner: 'revCheck' }],
  ['Leave it out: revocation is checked with --check-revocation only.', { osslsigncode: 'ignore-cdp ignore-crl' }],
  ['Use codesign-remote verify --signer.', { signtool: 'ca', osslsigncode: 'require-leaf-hash' }],
  ['Use codesign-remote verify --require-timestamp.', { signtool: 'tw' }],
  ['Use codesign-remote verify: it always checks every signature, for code signing.', { signtool: 'pa all' }],
  ['Use the command: codesign-remote verify.', { jarsigner: 'verify' }],
  ['Use the commands codesign-remote extract and attach.', { jsign: 'detached' }],
  ['Use codesign-remote extract --pem.', { jsign: 'format', osslsigncode: 'pem' }],
  ['Use codesign-remote extract --index.', { osslsigncode: 'index' }],
  ['Use --proxy, and HTTPS_PROXY for a proxy with a password.', { jsign: 'proxyUrl proxyUser' }],
  ['Use --quiet.', { signtool: 'q' }],
  ['Use --verbose.', { signtool: 'v debug', osslsigncode: 'verbose', jarsigner: 'verbose' }],
  [
    'Leave it out: the other files are signed when one fails. --all-or-nothing changes that.',
    { AzureSignTool: 'coe continue-on-error' },
  ],
  ['Leave it out: requests are retried.', { jsign: 'r tsretries w tsretrywait' }],
  [
    'Set CODESIGN_CERTIFICATE_PASSWORD_FILE for the password of a certificate file. codesign-remote login asks for the Access Secret.',
    { osslsigncode: 'askpass readpass' },
  ],
  [
    KEY_AT_SERVICE,
    {
      signtool: 'a c csp i kc n r s sha1 sm u uw',
      AzureSignTool:
        'kvu azure-key-vault-url kvi azure-key-vault-client-id kvt azure-key-vault-tenant-id kvc azure-key-vault-certificate kvcv azure-key-vault-certificate-version kvm azure-key-vault-managed-identity au azure-authority',
      jsign: 's keystore storetype alias keyfile',
      osslsigncode: 'key pkcs11engine pkcs11module pkcs11cert login engine',
      jarsigner:
        'keystore storetype providerName providerClass providerArg addprovider protected altsigner altsignerpath conf J',
    },
  ],
  [
    NOTHING_LIKE_IT,
    {
      signtool:
        'ad ag bp dg di dlib dmdf ds dxml enclave fdchw force g hash itos j jp kp ms noenclavewarn nosealwarn o p7 p7ce p7co p7content pg rmc sa seal sl snk sncsp snkc snks tdchw tp',
      AzureSignTool: 'colors',
      jsign: 'encoding',
      osslsigncode:
        'add-msi-dse addUnauthenticatedBlob catalog comm ignore-timestamp jp nolegacy noverifypeer time TSA-certs TSA-key TSA-time',
      jarsigner: 'internalsf sectionsonly strict',
    },
  ],
];

/** signtool's options may begin with a dash too, and their case does not count. */
export function toolsWith(name: string, hasSlash: boolean) {
  const found = FOREIGN_OPTIONS.flatMap(([advice, rows]) => {
    const tools = Object.entries(rows)
      .filter(([tool]) => !hasSlash || tool === 'signtool')
      .filter(([tool, names]) => names.split(' ').includes(tool === 'signtool' ? name.toLowerCase() : name))
      .map(([tool]) => tool);
    return tools.length === 0 ? [] : [{ advice, tools: tools.join(', ') }];
  });
  const advice = found.map((one) => (found.length > 1 ? `${one.tools}: ${one.advice}` : one.advice)).join(' ');
  return { tools: found.map((one) => one.tools).join(', '), advice };
}
