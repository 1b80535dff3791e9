import { join } from 'node:path';
import { checkRoots, readChain } from '../../app/compose-config.ts';
import { homeFolder } from '../../bytes/platform-folders.ts';
import { dateOf, type SigningChain } from '../../certificates/signing-chain.ts';
import { CodesignError } from '../../errors/codesign-error.ts';
import { printable } from '../../errors/printable.ts';
import { missingSettings } from '../../options/resolve.ts';
import type { Environment } from '../../options/table.ts';
import { parseBaseUrl, readTimestampUrl, refuse } from '../../options/values.ts';
import { DOCS_FOLDER } from '../docs-folder.ts';
import type { Io } from '../io.ts';
import { maskedAddress, shown, writeLines } from '../output/lines.ts';
import { type Ask, openAsk } from './ask.ts';

export interface Suggestion {
  readonly values: readonly string[];
  /** True for the value of an option. init does not ask for such a value. */
  readonly isGiven: boolean;
}

export interface Suggested {
  readonly baseUrl: Suggestion;
  readonly code: Suggestion;
  readonly certificate: Suggestion;
  readonly timestampUrl: Suggestion;
  readonly caFile: string | undefined;
}

export interface Answers {
  readonly baseUrl: string;
  readonly code: string;
  readonly certificate: readonly string[];
  readonly timestampUrl: readonly string[];
  readonly caFile: string | undefined;
  readonly chain: SigningChain;
}

const NONE = 'none';

export async function checkSuggested(suggested: Suggested, env: Environment): Promise<Answers> {
  const { baseUrl, code, certificate, timestampUrl, caFile } = suggested;
  const needed = ['baseUrl', 'code', 'certificate'] as const;
  const missing = needed.filter((key) => suggested[key].values.length === 0);
  if (missing.length > 0) throw missingSettings(missing, env);
  const [address = ''] = baseUrl.values;
  const [number = ''] = code.values;
  return {
    baseUrl: checkAddress(address, '--base-url'),
    code: checkCode(number, '--code'),
    certificate: certificate.values,
    timestampUrl: timestampUrl.values.map((value) => checkAuthority(value, '--timestamp-url')),
    caFile: await checkCaFile(caFile, env),
    chain: await readChain(certificate.values, env),
  };
}

/** Asks in the order in which the service's welcome letter lists the values. */
export async function askForAll(suggested: Suggested, ask: Ask, io: Io): Promise<Answers> {
  const caFile = await checkCaFile(suggested.caFile, io.env);
  const answerTo = <Answer>(text: string, suggestion: Suggestion, check: Check<Answer>): Promise<Answer> =>
    checkedAnswer({ text, suggestion, check }, ask, io);
  const baseUrl = await answerTo('Address of the signing service', suggested.baseUrl, ([address = '']) =>
    checkAddress(address, 'this address'),
  );
  const code = await answerTo('Certificate number at the service', suggested.code, ([number = '']) =>
    checkCode(number, 'this number'),
  );
  const { paths, chain } = await askForCertificate(suggested.certificate, ask, io);
  const { timestampUrl } = suggested;
  const hasSuggestion = timestampUrl.values.length > 0 || timestampUrl.isGiven;
  if (!timestampUrl.isGiven) writeLines(io.stderr, [`  Public authorities: timestamps.md in ${DOCS_FOLDER}`], io);
  const authorities = await answerTo(
    `Timestamp authorities (separate several with spaces; \`${NONE}\`: no timestamps)`,
    hasSuggestion ? timestampUrl : { values: [NONE], isGiven: false },
    (answers) =>
      answers
        .flatMap((answer) => answer.split(/\s+/))
        .filter((word) => word !== '' && word !== NONE)
        .map((url) => checkAuthority(url, 'this authority')),
  );
  return { baseUrl, code, certificate: paths, timestampUrl: authorities, caFile, chain };
}

type Check<Answer> = (values: readonly string[]) => Answer | Promise<Answer>;

interface Question<Answer> {
  readonly text: string;
  readonly suggestion: Suggestion;
  /** If the function throws a CodesignError, the question is asked again; an error about an option ends the command. */
  readonly check: Check<Answer>;
}

async function checkedAnswer<Answer>(
  { text, suggestion: { values, isGiven }, check }: Question<Answer>,
  ask: Ask,
  io: Io,
): Promise<Answer> {
  if (isGiven) return check(values);
  const defaultAnswer = values.length > 0 ? values.map(maskedAddress).join(' ') : undefined;
  for (;;) {
    const answer = await ask.text(text, { defaultAnswer, accept: (typed) => typed });
    try {
      return await check(answer === defaultAnswer ? values : [answer]);
    } catch (thrown) {
      if (!(thrown instanceof CodesignError)) throw thrown;
      printProblem(thrown, io);
    }
  }
}

/** A hint that mentions an option does not help a user who types answers. */
function printProblem({ message, hint }: CodesignError, io: Io): void {
  const lines = hint === undefined || hint.includes('--') ? [message] : [message, hint];
  writeLines(
    io.stderr,
    lines.map((line) => `  ${shown(line)}`),
    io,
  );
}

/** Returns the path of the file, or an empty string if the user has none. */
export async function askForRoots(problem: CodesignError, io: Io): Promise<string> {
  using ask = openAsk(io, '');
  printProblem(problem, io);
  const suggestion = { values: [NONE], isGiven: false };
  const text = "File with the root certificate of the service's TLS certificate, PEM";
  const check: Check<string> = async ([answer = NONE]) =>
    answer === NONE ? '' : ((await checkCaFile(typedPath(answer), io.env)) ?? '');
  return await checkedAnswer({ text, suggestion, check }, ask, io);
}

interface CertificateAnswer {
  readonly paths: readonly string[];
  readonly chain: SigningChain;
}

/** Also asks for issuers that are missing in the file: most verifiers reject a signature without them. */
async function askForCertificate(suggestion: Suggestion, ask: Ask, io: Io): Promise<CertificateAnswer> {
  const readAll = async (paths: readonly string[]): Promise<CertificateAnswer> => ({
    paths,
    chain: await readChain(paths, io.env),
  });
  const text = 'File with the signing certificate and its issuers';
  const check: Check<CertificateAnswer> = (answers) => readAll(answers.map(typedPath));
  const answer = await checkedAnswer({ text, suggestion, check }, ask, io);
  const { leaf, certificates } = answer.chain;
  writeLines(io.stderr, [`  ${printable(leaf.name)}, until ${dateOf(leaf.notAfter)}`], io);
  if (suggestion.isGiven || certificates.length > 1) return answer;
  return checkedAnswer(
    {
      text: `File with its issuers (${NONE}: the service's users have them)`,
      suggestion: { values: [NONE], isGiven: false },
      check: ([other = NONE]) =>
        other === NONE ? readAll(answer.paths) : readAll([...answer.paths, typedPath(other)]),
    },
    ask,
    io,
  );
}

/** A file that is dragged into the terminal appears in quotes, and ~ stands for the home folder. */
function typedPath(text: string): string {
  const path = text.replace(/^(["'])(.*)\1$/, '$2');
  const home = homeFolder();
  return home !== undefined && /^~[/\\]/.test(path) ? join(home, path.slice(2)) : path;
}

function checkAddress(value: string, name: string): string {
  parseBaseUrl(value, name);
  return value;
}

/** Keeps the case of letters, because services may distinguish it. */
function checkCode(value: string, name: string): string {
  if (/^[a-z\d][\w.-]{0,63}$/i.test(value)) return value;
  return refuse(
    { value, name },
    'a certificate number: 1 to 64 letters, digits and . _ -, the first a letter or digit',
  );
}

function checkAuthority(value: string, name: string): string {
  readTimestampUrl({ value, name });
  return value;
}

async function checkCaFile(path: string | undefined, env: Environment): Promise<string | undefined> {
  if (path !== undefined) await checkRoots(path, env);
  return path;
}
