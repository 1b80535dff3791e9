import type { CommandName } from '../options/option.ts';

const ORDER_OF_SETTINGS = `\
A setting is looked up in this order: option, environment variable, codesign-remote.config.json of the project, your profile,
default.`;

export const NOTES: Readonly<Record<'program' | 'config', string> & Partial<Record<CommandName, string>>> = {
  program: `\
The first time: codesign-remote init, codesign-remote login, codesign-remote sign <file>.
Run codesign-remote <command> --help for its options.`,

  sign: `\
Credentials come from CODESIGN_ACCESS_KEY with CODESIGN_ACCESS_SECRET or CODESIGN_ACCESS_SECRET_FILE, or from what
codesign-remote login has stored, never from an option.

Files from a pattern, a folder or a list are kept if they have an intact signature by another publisher. --replace and --append
sign these files too. Put patterns in quotes: otherwise the shell expands them, and sign cannot tell them from single files.

--inside also signs programs and installers inside ZIP and Java archives. docs/sign-inside.md describes what can be changed.

Examples:
  codesign-remote sign app.exe
  codesign-remote sign --timestamp-url http://timestamp.example.com app.exe
  codesign-remote sign --description "My App" --url https://example.com "dist/*.exe"
  codesign-remote sign --recursive --skip-signed --output signed/ dist/
  codesign-remote sign --checksums dist/SHA256SUMS "dist/*.exe"
  codesign-remote sign --inside dist/
  codesign-remote sign --dry-run --json app.exe

Exit codes: 0 done, 2 usage, 3 network, 4 HTTP, 5 rejected by the service, 6 local file or certificate, 7 timestamp,
9 failures of several kinds`,

  catalog: `\
A catalog lists digests of files; its single signature is valid for all of these files. Sign programs and cabinets first, then
create the catalog, then sign the catalog: files other than programs must not change after the catalog is created. An older
catalog at the path of --output is not listed. --replace replaces the older catalog.

Examples:
  codesign-remote catalog driver.sys driver.inf -o driver.cat
  codesign-remote sign driver.cat
  codesign-remote catalog --recursive --exclude "*.pdb" -o package.cat package/
  codesign-remote verify --catalog driver.cat driver.sys driver.inf

Exit codes: 0 created, 2 usage, 6 the output exists, or a file cannot be read or written`,

  verify: `\
Without --roots, a signer is trusted if its chain ends at one of the system's roots (SSL_CERT_FILE, or the distribution's
bundle). These roots are meant for web sites. For code, Microsoft and Oracle trust other roots.

Verdicts: trusted; intact (the same with --integrity-only); not-accepted (a requirement such as --signer is not met);
untrusted (intact, but its signer or timestamp is not trusted); unsupported (a signature cannot be verified); broken;
unsigned. A file gets the worst verdict of its signatures. With --catalog, a file that is not in the catalog is unsigned, and
a file that differs is broken. If the catalog is neither trusted nor intact, all files get its verdict.

--inside opens archives and packages, and fails if a program, installer or package in them has no valid signature.
docs/verify-inside.md describes policies.

Examples:
  codesign-remote verify --roots root.pem app.exe
  codesign-remote verify --inside dist/
  codesign-remote verify --policy codesign-policy.json dist/
  codesign-remote verify --signer "My Company" --require-timestamp "dist/*"
  codesign-remote verify --integrity-only --json app.jar
  codesign-remote verify --catalog driver.cat driver.sys driver.inf

Exit codes: 0 every file is accepted, 2 usage, 6 a file cannot be read or its format is not supported, 8 a signature is
missing, broken or not trusted, 9 both`,

  timestamp: `\
Every signature without a timestamp gets one, including nested signatures. A file does not change if its signature is broken
or its certificate has expired. A file that needs no timestamp is skipped and not copied to --output.

Examples:
  codesign-remote timestamp --timestamp-url http://timestamp.example.com app.exe
  codesign-remote timestamp --recursive --output stamped/ dist/

Exit codes: 0 done, or nothing to do, 2 usage, 6 a file is unsigned, broken or cannot be written, 7 no authority returned a
timestamp, 9 failures of several kinds`,

  remove: `\
An unsigned file does not change, is not copied to --output, and counts as done.

Examples:
  codesign-remote remove app.exe
  codesign-remote remove --output unsigned/ "dist/*.jar"

Exit codes: 0 done, or nothing to do, 2 usage, 6 a file cannot be read or written`,

  attach: `\
A signature can be attached only to the content for which it was made: otherwise it is rejected, and the file does not
change. The attached signature replaces the existing ones (in a JAR: the signature with the same name).

Examples:
  codesign-remote attach app.exe app.exe.p7s
  codesign-remote extract signed.exe | codesign-remote attach --output again.exe unsigned.exe -

Exit codes: 0 done, 2 usage, 6 the signature does not belong to the file, or a file cannot be read or written`,

  inspect: `\
inspect shows all signatures, including nested ones, with their digests, signers, certificates, attributes and timestamps. It
does not check trust: use codesign-remote verify.

Examples:
  codesign-remote inspect app.exe
  codesign-remote inspect --json app.jar
  codesign-remote inspect --certificates app.exe > chain.pem

Exit codes: 0 shown, also for an unsigned file, 2 usage, 6 the file cannot be read or its format is not supported`,

  extract: `\
The CMS signature is copied byte for byte, with its timestamp and nested signatures. For a JAR, it is the content of META-INF/NAME.RSA.

Examples:
  codesign-remote extract app.exe -o app.p7s
  codesign-remote extract --index 2 --pem app.exe
  codesign-remote extract app.jar | openssl pkcs7 -inform DER -print_certs

Exit codes: 0 done, 2 usage (also an unknown signature number), 6 the file contains no signature, or cannot be read or
written`,

  resume: `\
resume requests no signature. Credentials come from the environment or from login, as for sign. A report is sent only to the
service that made the signature, with the same access key. A call whose outcome is unknown may have been counted: ask the
operator of your service, then discard the call with --forget or --forget-unknown. The next sign then requests a new signature.

Examples:
  codesign-remote resume --dry-run
  codesign-remote resume
  codesign-remote resume --forget 5f0e8c1d9a7b3c2e4f60 0c2e4f605f0e8c1d9a7b
  codesign-remote resume --forget-unknown

Exit codes: 0 nothing is left, or only calls that you must settle; 2 usage, or other settings are needed, 3 network, 4 HTTP,
5 rejected by the service, 6 local file, 7 timestamp, 9 failures of several kinds`,

  history: `\
history reads the current user's journal on this machine [CODESIGN_STATE_DIR]. The journal keeps calls for 90 days. Times are
in UTC.

Examples:
  codesign-remote history --since 2026-11
  codesign-remote history --limit 20 --file "*.exe" --outcome unknown
  codesign-remote history --json | jq -r '.calls[] | [.at, .file, .record, .outcome] | @csv' > calls.csv

Exit codes: 0 done, 2 usage, 6 the journal cannot be read`,

  init: `\
init does not ask for values that are given as options. Values in brackets come from the environment or the profile; press
Enter to accept them. init checks all values before it stores them, and then runs codesign-remote doctor, which does not
change the exit code.

Examples:
  codesign-remote init
  codesign-remote init --profile work
  codesign-remote init --yes --base-url https://codesign.example.com --code 12345 --certificate chain.pem --no-timestamp

Exit codes: 0 stored, 2 usage, or something is missing, 6 the certificate is unusable or the file cannot be written`,

  doctor: `\
doctor requests no signature and changes nothing. It gets one timestamp from each authority, and sends the service one request
that the service must reject. A note (such as a missing keychain) does not change the exit code. A check that depends on a
failed one is not run.

Examples:
  codesign-remote doctor
  codesign-remote doctor --profile work --offline
  codesign-remote doctor --json

Exit codes: 0 no check failed; otherwise the exit code of the failed checks: 2 settings or credentials, 3 network, 4 and 5 the
service rejects the credentials, 6 certificate, clock or state folder, 7 timestamp, 9 failures of several kinds`,

  login: `\
On a terminal, login asks for the address, the access key and the access secret, which is not shown. The access secret is
never an argument: other users could see it, and the shell would record it. The credentials are sent only to the service for
which they were stored. Checking the credentials does not use up a signature.

--store file is for machines without a keychain, such as servers and containers. It writes the credentials unencrypted to
credentials.json next to your profiles. Only you can read this file. Anyone who gets a copy of the file can sign.

Examples:
  codesign-remote login
  codesign-remote login --profile work --base-url https://codesign.example.com
  codesign-remote login --access-key your-access-key < secret.txt
  codesign-remote login --store file

Exit codes: 0 stored, 2 usage, or the keychain cannot be used, 3 the service cannot be reached, 4 and 5 the service rejects
the credentials, 6 the profile or the file cannot be written`,

  logout: `\
logout does not change the settings of the profile, or credentials in the environment.

Examples:
  codesign-remote logout
  codesign-remote logout --profile work

Exit codes: 0 no credentials are left, 2 usage, or the keychain cannot be used`,

  whoami: `\
--check sends a request that the service must reject after it has checked the credentials. Only code 401 means that the
credentials are wrong; after any other answer, they count as accepted.

Examples:
  codesign-remote whoami
  codesign-remote whoami --check --json

Exit codes: 0 credentials exist (with --check: not rejected), 2 no credentials, or the keychain cannot be used, 3 the service
cannot be reached, 4 and 5 the service rejects the credentials`,

  config: `\
${ORDER_OF_SETTINGS} Credentials are not settings: codesign-remote login stores them.

Examples:
  codesign-remote config list --origin
  codesign-remote config set code 12345
  codesign-remote config set code                                 # without a value: removes the setting
  codesign-remote config set timestampUrl http://timestamp.example.com http://tsa.example.org
  codesign-remote config set environments.alternate https://alternate.example.com
  codesign-remote config set --profile work baseUrl https://codesign.example.com
  codesign-remote config remove-profile work

Exit codes: 0 done, 2 usage, or a damaged file, 6 the file cannot be written`,

  'config list': ORDER_OF_SETTINGS,

  explain: `\
Names in braces stand for values that the actual message shows.

Examples:
  codesign-remote explain file-changed

Exit codes: 0 shown, 2 usage, or an unknown code`,

  completion: `\
Add this line to the shell's start-up file:
  ~/.bashrc                    eval "$(codesign-remote completion bash)"
  ~/.zshrc, after compinit     source <(codesign-remote completion zsh)
  ~/.config/fish/config.fish   codesign-remote completion fish | source
  $PROFILE of PowerShell       codesign-remote completion powershell | Out-String | Invoke-Expression

The script for PowerShell has not been tested.`,

  man: `\
The page is in the format of the command man.

Examples:
  codesign-remote man | man -l -

Exit codes: 0 shown, 2 usage`,
};
