/** Options of other signing tools: every option of five of them, as their help lists them. */

import { describe, expect, it } from 'vitest';
import { refuseForeignOptions } from '../../../src/cli/input/foreign-options.ts';
import type { CodesignError } from '../../../src/errors/codesign-error.ts';

const TOOLS: Readonly<Record<string, string>> = {
  // signtool: catdb, sign, timestamp, verify, remove
  signtool: `/a /ac /ad /ag /all /as /bp /c /ca /csp /d /debug /dg /di /dlib /dmdf /ds /du /dxml /enclave /f /fd /fdchw /force /g
    /hash /i /itos /j /jp /kc /kp /ms /n /noenclavewarn /nosealwarn /nph /o /p /p7 /p7ce /p7co /p7content /pa /pg /ph /q /r /rmc
    /s /sa /seal /sha1 /sl /sm /snk /sncsp /snkc /snks /t /td /tdchw /tp /tr /tseal /tw /u /uw /v
    -fd -tr -td -du -as -sha1 -sm -n /FD /Tr`,
  AzureSignTool: `-kvu --azure-key-vault-url -kvi --azure-key-vault-client-id -kvs --azure-key-vault-client-secret
    -kvt --azure-key-vault-tenant-id -kvc --azure-key-vault-certificate -kvcv --azure-key-vault-certificate-version
    -kva --azure-key-vault-accesstoken -kvm --azure-key-vault-managed-identity -au --azure-authority -du --description-url
    -tr --timestamp-rfc3161 -td --timestamp-digest -fd --file-digest --timestamp-authenticode -ac --additional-certificates
    -ph --page-hashing -nph --no-page-hashing -coe --continue-on-error -ifl --input-file-list
    -mdop --max-degree-of-parallelism --colors -s -as --append-signature -skip-signed -description`,
  jsign: `-s --keystore --storepass --storetype --alias --keypass --keyfile --certfile --alg --tsaurl -m --tsmode -r --tsretries
    -w --tsretrywait -n --name --proxyUrl --proxyUser --proxyPass --encoding --detached --format
    -keystore -storepass -tsaurl -name -url -replace`,
  osslsigncode: `-pkcs12 -certs -spc -key -pkcs11engine -login -pkcs11module -pkcs11cert -nolegacy -pass -askpass -readpass -ac -n -i
    -jp -comm -ph -ts -noverifypeer -TSA-certs -TSA-key -TSA-time -HTTPS-CAfile -HTTPS-CRLfile -time -addUnauthenticatedBlob
    -nest -verbose -add-msi-dse -pem -in -out -index -sigin -CAfile -CRLfile -TSA-CAfile -TSA-CRLfile -require-leaf-hash
    -catalog -ignore-timestamp -ignore-cdp -ignore-crl`,
  jarsigner: `-keystore -storepass -storepass:env -storetype -keypass -keypass:file -certchain -sigfile -signedjar -digestalg -sigalg
    -verify -verbose -verbose:all -certs -revCheck -tsa -tsacert -tsapolicyid -tsadigestalg -altsigner -altsignerpath -internalsf
    -sectionsonly -protected -providerName -addprovider -providerClass -providerArg -strict -conf -J-Xmx64m`,
};
/** Their other options have names that are ours too, with the same meaning or with values that are rejected. */
const SHARED = [
  ['-d', '-t', '-v', '-q', '-u', '-a', '-c', '-e', '-h', '-p', '--verbose', '--quiet', '--description', '--url'],
  ['--replace', '--skip-signed', '--help', '--version'],
].flat();

async function refusal(argv: readonly string[], ...existing: readonly string[]): Promise<CodesignError | undefined> {
  try {
    await refuseForeignOptions(argv, (path) => existing.includes(path));
    return undefined;
  } catch (thrown) {
    return thrown as CodesignError;
  }
}

describe.each(Object.entries(TOOLS))('options of %s', (tool, names) => {
  it('are rejected with the name of the tool and advice, or as secrets, and a value of theirs is shown only with our name', async () => {
    for (const name of names.split(/\s+/)) {
      for (const separate of [true, false]) {
        const given = separate ? [name, 'geheim'] : [`${name}:geheim`];
        const error = await refusal(['sign', ...given, 'app.exe']);
        const option = name.replace(/:.*/, '');
        expect([name, error?.code]).toEqual([name, expect.stringMatching(/^(?:foreign-option|secret-as-argument)$/)]);
        // The value of an option that has another name here is part of the translated line.
        const texts = `${error?.message} ${error?.hint?.replaceAll(/(?:--[\w-]+ |sign @?)geheim/g, '')}`;
        expect(texts).not.toContain('geheim');
        expect(error?.message).toContain(option.slice(0, 5));
        if (error?.code === 'foreign-option')
          expect([name, error.message]).toEqual([name, expect.stringContaining(tool)]);
        expect(error?.hint).toMatch(/^[A-Z].*(?:\.|codesign-remote sign .*)$/);
      }
    }
  });
});

describe('what is not an option of another tool', () => {
  it.each([
    ...SHARED,
    ...[
      '-c1001',
      '-durl',
      '-j8',
      '-vq',
      '--code=5',
      '-',
      '/app.exe',
      '/tmp/app',
      '/tmp/a:b',
      '/a-b',
      'dist/t',
      '@list',
    ],
  ])('%s', async (argument) => {
    expect(await refusal(['sign', argument])).toBeUndefined();
  });

  it('a path that exists, a value of our own options, an argument after --, and a value for config', async () => {
    expect(await refusal(['sign', '/tr'], '/tr')).toBeUndefined();
    expect(await refusal(['sign', '-o', '/signed', '--description', '-out', 'app.exe'])).toBeUndefined();
    expect(await refusal(['sign', '--', '-out', '/fd'])).toBeUndefined();
    expect(await refusal(['config', 'set', 'caFile', '/ca'])).toBeUndefined();
  });
});

it('does not report an option of another command, or an option without a command', async () => {
  expect(await refusal(['history', '-v'])).toBeUndefined();
  expect(await refusal(['--verbose'])).toBeUndefined();
});

it.each([
  ['-profile', 'Use: codesign-remote sign --profile …'],
  ['/unknown1', 'Leave out /unknown1: options begin with - here. Use: codesign-remote sign …'],
  ['-passgeheim', expect.stringMatching(/^Change any secret/)],
  [
    '-s',
    expect.stringMatching(
      /^For AzureSignTool: Use: .* --skip-any-signed app.exe; For signtool and jsign: Leave out -s/,
    ),
  ],
])('%s is rejected: %s', async (argument, hint) => {
  const error = await refusal(['sign', argument, 'app.exe']);
  expect(error).toMatchObject({ category: 'usage', hint });
  expect(error?.message).not.toContain('geheim');
});

const KEY =
  'the key is at the service. Use --code for the number of the certificate there, and --certificate for the certificate itself.';

describe('a line with several of them', () => {
  it.each([
    [
      'sign /fd sha256 /tr http://a.example/?t=geheim /td SHA256 /n MyCo /a /d My%20App /v app.exe',
      '/fd, /tr, /td, /n, /a, /d and /v are options of signtool',
      `Leave out /n and /a: ${KEY} Use: codesign-remote sign --algorithm sha256 --timestamp-url "http://a.example/?…" --timestamp-algorithm SHA256 --description "My App" --verbose app.exe`,
    ],
    [
      'sign -certs c.pem -key k.pem -n App -i https://u:geheim@x -in /app -out /b',
      '-certs, -key, -n, -i, -in and -out are options of osslsigncode',
      `Leave out -key: ${KEY} Use: codesign-remote sign --certificate c.pem --description App --url "https://…@x" --output /b /app`,
    ],
    [
      '--keystore ks --alg SHA-256 -- app.jar',
      '--keystore and --alg are options of jsign',
      `Leave out --keystore: ${KEY} Use: codesign-remote sign --algorithm SHA-256 -- app.jar`,
    ],
    [
      'sign -kvu https://v -ifl list.txt -s -du=https://u',
      '-kvu, -ifl, -s and -du are options of AzureSignTool',
      `Leave out -kvu: ${KEY} Use: codesign-remote sign --skip-any-signed --url https://u @list.txt`,
    ],
    [
      'verify /pa /tw app.exe',
      '/pa and /tw are options of signtool',
      /: codesign-remote verify always .* Use: codesign-remote verify --require-timestamp app.exe$/,
    ],
    [
      'sign -CAfile r.pem app.exe',
      '-CAfile is an option of osslsigncode',
      /^Instead of -CAfile, use codesign-remote verify --roots\./,
    ],
    [
      'sign --require-timestamp /fd sha256 app.exe',
      '/fd is an option of signtool',
      'Use: codesign-remote sign --require-timestamp --algorithm sha256 app.exe',
    ],
    [
      'sign -tsaurl http://a -kvi x -kvc y app.exe',
      '-tsaurl is an option of jsign; -kvi and -kvc are options of AzureSignTool',
      /--timestamp-url http:\/\/a app.exe$/,
    ],
    [
      '/fd sha256 /x app.exe',
      '/fd is an option of signtool; /x is neither an option nor a path',
      / sign --algorithm sha256 …$/,
    ],
  ])('%s', async (line, message, hint) => {
    const error = await refusal(line.split(' ').map(decodeURIComponent));
    expect(error).toMatchObject({
      code: 'foreign-option',
      message,
      hint: typeof hint === 'string' ? hint : expect.stringMatching(hint),
    });
  });

  it('names secrets first, and shows no value that may be one', async () => {
    const line =
      'sign /p geheim geheim -p geheim --extra=geheim -pgeheim -x geheim --tolken=geheim -ygeheim /fd sha256 app.exe';
    const error = await refusal(line.split(' '), 'app.exe');
    expect(error).toMatchObject({ code: 'secret-as-argument', message: '/p: secrets are not accepted as arguments' });
    expect(error?.hint).toMatch(
      /\. In addition, \/fd is an option of signtool\. Use: .* --algorithm sha256 .*app\.exe$/,
    );
    expect(error?.hint).not.toContain('geheim');
  });
});
