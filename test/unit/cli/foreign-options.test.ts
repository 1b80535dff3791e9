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
  it('are rejected with the name of the tool and advice, or as secrets, and their value is never shown', async () => {
    for (const name of names.split(/\s+/)) {
      for (const separate of [true, false]) {
        const given = separate ? [name, 'geheim'] : [`${name}:geheim`];
        const error = await refusal(['sign', ...given, 'app.exe']);
        const option = name.replace(/:.*/, '');
        expect([name, error?.code]).toEqual([name, expect.stringMatching(/^(?:foreign-option|secret-as-argument)$/)]);
        expect(`${error?.message} ${error?.hint}`).not.toContain('geheim');
        expect(error?.message).toContain(option.slice(0, 5));
        if (error?.code === 'foreign-option')
          expect([name, error.message]).toEqual([name, expect.stringContaining(tool)]);
        expect(error?.hint).toMatch(/^[A-Za-z].*\.$/);
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

it('says nothing of an option that another command has, or that stands without a command', async () => {
  expect(await refusal(['history', '-v'])).toBeUndefined();
  expect(await refusal(['--verbose'])).toBeUndefined();
});

it.each([
  ['-profile', 'Write --profile, with two dashes.'],
  ['/unknown1', 'Options begin with - here.'],
  ['-passgeheim', expect.stringMatching(/^Change a secret/)],
  ['-s', expect.stringMatching(/AzureSignTool: Use --skip.* signtool, jsign: Leave it out/)],
])('%s is rejected: %s', async (argument, hint) => {
  const error = await refusal(['sign', argument, 'app.exe']);
  expect(error).toMatchObject({ category: 'usage', hint });
  expect(error?.message).not.toContain('geheim');
});
