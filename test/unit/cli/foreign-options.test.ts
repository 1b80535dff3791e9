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
const SHARED = `-d -t -v -q -u -a -c -e -h -p --verbose --quiet --description --url --replace --skip-signed --help --version
  -c1001 -durl -j8 -vq --code=5 - /app.exe /tmp/app /tmp/a:b /a-b dist/t @list`;

function refusal(argv: readonly string[], ...existing: readonly string[]): Promise<CodesignError | undefined> {
  return refuseForeignOptions(argv, (path) => existing.includes(path)).then(
    () => undefined,
    (thrown) => thrown,
  );
}

describe.each(Object.entries(TOOLS))('options of %s', (tool, names) => {
  it('are rejected with advice, or as secrets, and their values are not shown', async () => {
    for (const name of names.split(/\s+/)) {
      for (const given of [[name, 'geheim'], [`${name}:geheim`]]) {
        const error = await refusal(['sign', ...given, 'app.exe']);
        const text = `${error?.message}: ${error?.hint}`;
        expect([name, error?.code]).toEqual([name, expect.stringMatching(/^(?:foreign-option|secret-as-argument)$/)]);
        expect(text).not.toContain('geheim');
        expect(text).toContain(name.replace(/:.*/, '').slice(0, 5));
      }
    }
  });
  it('are reported with the name of the tool', async () => {
    const options = names.split(/\s+/).map((name) => name.replace(/:.*/, ''));
    const error = await refusal(['sign', ...options.flatMap((name) => [name, 'geheim'])]);
    expect(`${error?.message} ${error?.hint}`).toMatch(new RegExp(`options of ${tool}`));
  });
});

it.each([
  ...SHARED.split(/\s+/).map((argument) => `sign ${argument}`),
  'sign /existing',
  'sign -o /signed --description -out app.exe',
  'sign -- -out /fd',
  'config set caFile /ca',
  'history -v',
  '--verbose',
])('accepts %s', async (line) => {
  expect(await refusal(line.split(' '), '/existing')).toBeUndefined();
});

const KEY =
  'the key is at the service. Use --code for the number of the certificate there, and --certificate for the certificate itself.';

it.each([
  ['sign -profile app.exe', '-profile is neither an option nor a path', 'Instead of -profile, use --profile.'],
  [
    'sign /fd sha256 /tr http://a.example/?t=geheim /td SHA256 /n MyCo /a /d My%20App /v app.exe',
    '/fd, /tr, /td, /n, /a, /d and /v are options of signtool',
    `Instead of /fd, use --algorithm. Instead of /tr, use --timestamp-url. Instead of /td, use --timestamp-algorithm. Leave out /n and /a: ${KEY} Instead of /d, use --description. Instead of /v, use --verbose.`,
  ],
  [
    'sign -certs c.pem -key k.pem -n App -i https://u:geheim@x -in /app -out /b',
    '-certs, -key, -n, -i, -in and -out are options of osslsigncode',
    `Instead of -certs, use --certificate. Leave out -key: ${KEY} Instead of -n, use --description. Instead of -i, use --url. Leave out -in: the path is an argument without an option. Instead of -out, use --output.`,
  ],
  [
    'sign -tsaurl http://a -kvi x -kvc y app.exe',
    '-tsaurl is an option of jsign; -kvi and -kvc are options of AzureSignTool',
    `Instead of -tsaurl, use --timestamp-url. Leave out -kvi and -kvc: ${KEY}`,
  ],
])('%s', async (line, message, hint) => {
  const error = await refusal(line.split(' ').map(decodeURIComponent));
  expect(error).toMatchObject({ category: 'usage', code: 'foreign-option', message, hint });
});

it.each(['-passgeheim', '-p geheim -passgeheim'])('never shows a secret: %s', async (options) => {
  const error = await refusal(['sign', ...options.split(' '), 'app.exe']);
  expect(error?.message).toBe('-pass: secrets are not accepted as arguments');
  expect(error?.hint).toMatch(/^If you typed a secret, change it\./);
});

it('names secrets first', async () => {
  const line =
    'sign /p geheim geheim -p geheim --extra=geheim -pgeheim -x geheim --tolken=geheim -ygeheim /fd sha256 a.exe';
  const error = await refusal(line.split(' '), 'a.exe');
  expect(error).toMatchObject({ code: 'secret-as-argument', message: '/p: secrets are not accepted as arguments' });
  expect(error?.hint).toMatch(/\. In addition, \/fd is an option of signtool\. Instead of \/fd, use --algorithm\.$/);
  expect(error?.hint).not.toContain('geheim');
});
