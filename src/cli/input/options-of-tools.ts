import type { StrangeOption } from './strange-option.ts';

export type Tool = 'signtool' | 'AzureSignTool' | 'jsign' | 'osslsigncode' | 'jarsigner';

/**
 * Options of other tools, without leading dashes; `=` marks options with a value. `here` is the option with the same
 * meaning, or advice in which {} stands for the options. The table omits short options that also exist here.
 */
const FOREIGN_OPTIONS: readonly (readonly [here: string, names: Readonly<Partial<Record<Tool, string>>>])[] = [
  ['--algorithm', { signtool: 'fd=', AzureSignTool: 'fd= file-digest=', jsign: 'alg=', jarsigner: 'digestalg=' }],
  [
    '--timestamp-url',
    {
      signtool: 't= tr= tseal=',
      AzureSignTool: 'tr= timestamp-rfc3161= timestamp-authenticode=',
      jsign: 'tsaurl=',
      osslsigncode: 'ts=',
      jarsigner: 'tsa=',
    },
  ],
  ['--timestamp-algorithm', { signtool: 'td=', AzureSignTool: 'td= timestamp-digest=', jarsigner: 'tsadigestalg=' }],
  ['--timestamp-policy', { jarsigner: 'tsapolicyid=' }],
  ['--description', { signtool: 'd=', AzureSignTool: 'description=', jsign: 'n= name=', osslsigncode: 'n=' }],
  ['--url', { signtool: 'du=', AzureSignTool: 'du= description-url=', jsign: 'url=', osslsigncode: 'i=' }],
  ['--append', { signtool: 'as', AzureSignTool: 'as append-signature', osslsigncode: 'nest' }],
  ['--page-hashes', { signtool: 'ph', AzureSignTool: 'ph page-hashing', osslsigncode: 'ph' }],
  ['--replace', { jsign: 'replace' }],
  ['--skip-any-signed', { AzureSignTool: 's skip-signed' }],
  ['--output', { osslsigncode: 'out=', jarsigner: 'signedjar=' }],
  [
    '--certificate',
    {
      signtool: 'f= ac=',
      AzureSignTool: 'ac= additional-certificates=',
      jsign: 'certfile=',
      osslsigncode: 'certs= spc= ac= pkcs12=',
      jarsigner: 'certchain=',
    },
  ],
  ['--certificates', { jarsigner: 'certs' }],
  ['--signer-name', { jarsigner: 'sigfile=' }],
  ['--concurrency', { AzureSignTool: 'mdop= max-degree-of-parallelism=' }],
  ['Instead of {}, pass the list as an argument: @list.txt.', { AzureSignTool: 'ifl= input-file-list=' }],
  ['Leave out {}: the path is an argument without an option.', { osslsigncode: 'in= sigin=' }],
  ['--ca-file', { osslsigncode: 'HTTPS-CAfile=' }],
  ['--roots', { osslsigncode: 'CAfile= TSA-CAfile=' }],
  ['--crl-file', { osslsigncode: 'CRLfile= HTTPS-CRLfile= TSA-CRLfile=' }],
  ['--check-revocation', { jarsigner: 'revCheck' }],
  ['--signer', { signtool: 'ca=', osslsigncode: 'require-leaf-hash=' }],
  ['--require-timestamp', { signtool: 'tw' }],
  ['--pem', { osslsigncode: 'pem' }],
  ['--index', { osslsigncode: 'index=' }],
  ['--proxy', { jsign: 'proxyUrl=' }],
  ['--quiet', { signtool: 'q' }],
  ['--verbose', { signtool: 'v debug', osslsigncode: 'verbose', jarsigner: 'verbose' }],
  ['Leave out {}: the certificate decides it, and --algorithm.', { jarsigner: 'sigalg=' }],
  ['Leave out {}: RFC 3161 is the only kind of timestamp here.', { jsign: 'tsmode= m=', jarsigner: 'tsacert=' }],
  [
    'Leave out {}: page hashes are signed with --page-hashes only.',
    { signtool: 'nph', AzureSignTool: 'nph no-page-hashing' },
  ],
  ['Leave out {}: revocation is checked with --check-revocation only.', { osslsigncode: 'ignore-cdp ignore-crl' }],
  ['Leave out {}: codesign-remote verify always checks every signature, for code signing.', { signtool: 'pa all' }],
  ['Instead of {}, use the command codesign-remote verify.', { jarsigner: 'verify' }],
  [
    'Instead of {}, use the commands codesign-remote extract and attach.',
    { jsign: 'detached format=', osslsigncode: 'addUnauthenticatedBlob' },
  ],
  ['Instead of {}, set HTTPS_PROXY for a proxy with a password.', { jsign: 'proxyUser=' }],
  [
    'Leave out {}: the other files are signed when one fails. --all-or-nothing changes that.',
    { AzureSignTool: 'coe continue-on-error' },
  ],
  ['Leave out {}: requests are retried.', { jsign: 'r= tsretries= w= tsretrywait=' }],
  [
    'Instead of {}, set CODESIGN_CERTIFICATE_PASSWORD_FILE for the password of a certificate file. codesign-remote login asks for the access secret.',
    { osslsigncode: 'askpass readpass=' },
  ],
  [
    'Leave out {}: the key is at the service. Use --code for the number of the certificate there, and --certificate for the certificate itself.',
    {
      signtool: 'a c= csp= i= kc= n= r= s= sha1= sm u= uw',
      AzureSignTool:
        'kvu= azure-key-vault-url= kvi= azure-key-vault-client-id= kvt= azure-key-vault-tenant-id= kvc= azure-key-vault-certificate= kvcv= azure-key-vault-certificate-version= kvm azure-key-vault-managed-identity au= azure-authority=',
      jsign: 's= keystore= storetype= alias= keyfile=',
      osslsigncode: 'key= pkcs11engine= pkcs11module= pkcs11cert= login engine=',
      jarsigner:
        'keystore= storetype= providerName= providerClass= providerArg= addprovider= protected altsigner= altsignerpath= conf= J',
    },
  ],
  [
    'Leave out {}: codesign-remote has no such option.',
    {
      signtool:
        'ad ag= bp dg= di= dlib= dmdf= ds dxml enclave fdchw force g= hash= itos j= jp= kp ms noenclavewarn nosealwarn o= p7= p7ce= p7co= p7content= pg= rmc sa= seal sl snk= sncsp= snkc= snks= tdchw tp=',
      AzureSignTool: 'colors',
      jsign: 'encoding=',
      osslsigncode:
        'add-msi-dse catalog= comm ignore-timestamp jp= nolegacy noverifypeer time= TSA-certs= TSA-key= TSA-time=',
      jarsigner: 'internalsf sectionsonly strict',
    },
  ],
];

export interface ForeignOption {
  readonly tool: Tool;
  readonly here: string;
  readonly takesValue: boolean;
}

/** signtool also accepts a slash, and ignores case. Java options follow -J without a space. */
export function foreignOptions({ name, hasSlash }: StrangeOption): readonly ForeignOption[] {
  const word = name.replace(/^J-.*/, 'J');
  return FOREIGN_OPTIONS.flatMap(([here, rows]) =>
    (Object.entries(rows) as [Tool, string][]).flatMap(([tool, names]) => {
      if (hasSlash && tool !== 'signtool') return [];
      const wanted = tool === 'signtool' ? word.toLowerCase() : word;
      const found = names.split(' ').find((one) => one.replace('=', '') === wanted);
      return found === undefined ? [] : [{ tool, here, takesValue: found.endsWith('=') }];
    }),
  );
}
