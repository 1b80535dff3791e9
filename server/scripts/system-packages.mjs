// System programs and libraries that the server or the tests need: whether each is installed, and which package contains it.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { findNodeHeaders } from './node-headers.mjs';
import { onPath, run, runOrFail, ScriptError } from './run.mjs';

const program =
  (...names) =>
  () =>
    names.some((name) => onPath(name) !== undefined);

/** On other systems the keychain is part of the system. */
const onLinux = (isThere) => () => process.platform !== 'linux' || isThere();

/** Each needed program or library: its title, whether it is installed, and its package by package manager. */
const TOOLS = {
  softhsm: {
    title: 'SoftHSM',
    isThere: () => hasSoftHsmLibrary() && program('softhsm2-util')(),
    packages: { 'apt-get': 'softhsm2', dnf: 'softhsm', apk: 'softhsm', brew: 'softhsm' },
  },
  compiler: {
    title: 'a C++ compiler',
    isThere: program('g++', 'c++', 'clang++'),
    packages: { 'apt-get': 'g++', dnf: 'gcc-c++', apk: 'g++', brew: 'gcc' },
  },
  make: {
    title: 'make',
    isThere: program('make', 'gmake'),
    packages: { 'apt-get': 'make', dnf: 'make', apk: 'make', brew: 'make' },
  },
  python: {
    title: 'Python 3',
    isThere: program('python3'),
    packages: { 'apt-get': 'python3', dnf: 'python3', apk: 'python3', brew: 'python3' },
  },
  headers: {
    title: "Node's headers",
    isThere: () => findNodeHeaders() !== undefined,
    // Only a Node.js that a distribution packages comes without them.
    packages: { 'apt-get': 'libnode-dev', dnf: 'nodejs-devel', apk: 'nodejs-dev' },
  },
  curl: {
    title: 'curl',
    isThere: program('curl'),
    packages: { 'apt-get': 'curl', dnf: 'curl', apk: 'curl', brew: 'curl' },
  },
  openssl: {
    title: 'openssl',
    isThere: program('openssl'),
    packages: { 'apt-get': 'openssl', dnf: 'openssl', apk: 'openssl', brew: 'openssl' },
  },
  osslsigncode: {
    title: 'osslsigncode',
    isThere: program('osslsigncode'),
    packages: { 'apt-get': 'osslsigncode', dnf: 'osslsigncode', apk: 'osslsigncode', brew: 'osslsigncode' },
  },
  sbverify: {
    title: 'sbverify',
    isThere: program('sbverify'),
    packages: { 'apt-get': 'sbsigntool', dnf: 'sbsigntools', apk: 'sbsigntool' },
  },
  jdk: {
    title: 'a JDK (java, javac, jar, jarsigner, keytool)',
    isThere: () => hasJdk(),
    // Debian's name for the JDK of the release, whichever it is: 17 in bookworm.
    packages: {
      'apt-get': 'default-jdk-headless',
      dnf: 'java-latest-openjdk-devel',
      apk: 'openjdk17-jdk',
      brew: 'openjdk',
    },
  },
  zsh: {
    title: 'zsh',
    isThere: program('zsh'),
    packages: { 'apt-get': 'zsh', dnf: 'zsh', apk: 'zsh', brew: 'zsh' },
  },
  fish: {
    title: 'fish',
    isThere: program('fish'),
    packages: { 'apt-get': 'fish', dnf: 'fish', apk: 'fish', brew: 'fish' },
  },
  man: {
    title: 'man',
    isThere: program('man'),
    packages: { 'apt-get': 'man-db', dnf: 'man-db', apk: 'mandoc', brew: 'man-db' },
  },
  postgresql: {
    title: 'PostgreSQL (the server)',
    isThere: () => hasPostgres(),
    packages: { 'apt-get': 'postgresql', dnf: 'postgresql-server', apk: 'postgresql', brew: 'postgresql' },
  },
  chromium: {
    title: 'Chromium',
    isThere: () => Boolean(process.env.CODESIGN_TEST_CHROMIUM) || program('chromium', 'chromium-browser')(),
    packages: { 'apt-get': 'chromium', dnf: 'chromium', apk: 'chromium' },
  },
  messageBus: {
    title: 'a message bus (dbus-daemon)',
    isThere: onLinux(program('dbus-daemon')),
    packages: { 'apt-get': 'dbus', dnf: 'dbus-daemon', apk: 'dbus' },
  },
  messageTool: {
    title: 'dbus-send',
    isThere: onLinux(program('dbus-send')),
    packages: { 'apt-get': 'dbus', dnf: 'dbus-tools', apk: 'dbus' },
  },
  keyring: {
    title: "GNOME's keyring",
    isThere: onLinux(program('gnome-keyring-daemon')),
    packages: { 'apt-get': 'gnome-keyring', dnf: 'gnome-keyring', apk: 'gnome-keyring' },
  },
  libsecret: {
    title: 'libsecret',
    isThere: onLinux(() => hasLibrary('libsecret-1.so.0', ['.'])),
    packages: { 'apt-get': 'libsecret-1-0', dnf: 'libsecret', apk: 'libsecret' },
  },
  wine: {
    title: 'Wine',
    isThere: program('wine'),
    packages: { 'apt-get': 'wine', dnf: 'wine', apk: 'wine' },
  },
  windowsCompiler: {
    title: 'a C compiler for Windows (MinGW-w64)',
    isThere: program('x86_64-w64-mingw32-gcc'),
    packages: { 'apt-get': 'gcc-mingw-w64-x86-64', dnf: 'mingw64-gcc', apk: 'mingw-w64-gcc' },
  },
};

/** What the PKCS#11 addon is built with. */
export const ADDON_TOOLS = ['compiler', 'make', 'python', 'headers'];
/** The keychain of a Linux desktop. */
const KEYCHAIN_TOOLS = ['messageBus', 'messageTool', 'keyring', 'libsecret'];
/** Verifiers and helpers of other projects for `npm test`. */
export const TEST_TOOLS = [
  ...['curl', 'openssl', 'osslsigncode', 'sbverify', 'jdk', 'zsh', 'fish', 'man', 'python', 'postgresql'],
  ...KEYCHAIN_TOOLS,
];

/** What `npm run test:long` needs in addition. */
export const LONG_TEST_TOOLS = ['chromium'];

/** What `npm run test:windows` needs in addition to `npm test`. */
export const WINDOWS_TEST_TOOLS = ['wine', 'windowsCompiler'];

const INSTALL = {
  'apt-get': ['install', '-y', '--no-install-recommends'],
  dnf: ['install', '-y'],
  apk: ['add'],
  brew: ['install'],
};

/** Installs the packages of missing tools if this user has the right to. Otherwise throws with the command to type. */
export async function provideTools(names, say) {
  const missing = names.filter((name) => !TOOLS[name].isThere());
  if (missing.length === 0) return;
  const titles = missing.map((name) => TOOLS[name].title).join(', ');

  const manager = Object.keys(INSTALL).find((name) => onPath(name) !== undefined);
  const packages = missing.map((name) => TOOLS[name].packages[manager]);
  if (manager === undefined || packages.includes(undefined)) {
    throw new ScriptError(`Missing: ${titles}.`, byHand(missing));
  }
  const command = [manager, ...INSTALL[manager], ...packages];
  const prefix = await rightToInstall(manager);
  if (prefix === undefined) {
    const commands = [...(manager === 'apt-get' ? ['apt-get update'] : []), command.join(' ')];
    const typed = commands.map((line) => (onPath('sudo') ? `sudo ${line}` : line)).join(' && ');
    const who = onPath('sudo') ? 'type' : 'as root, type';
    throw new ScriptError(`Missing: ${titles}. This user may not install packages; ${who}`, `  ${typed}`);
  }

  say(`Installing ${titles} (${[...prefix, ...command].join(' ')})`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  if (manager === 'apt-get') await runOrFail(...asCommand([...prefix, 'apt-get', 'update']), { env });
  await runOrFail(...asCommand([...prefix, ...command]), { env });
  const stillMissing = missing.filter((name) => !TOOLS[name].isThere());
  if (stillMissing.length > 0) {
    throw new ScriptError(
      `${command.join(' ')} went well, but these are still not found: ${stillMissing.map((name) => TOOLS[name].title).join(', ')}.`,
      byHand(stillMissing),
    );
  }
}

const asCommand = ([command, ...args]) => [command, args];

/** The words before the package manager: none for root, sudo if it needs no password, undefined without the right to install. */
async function rightToInstall(manager) {
  if (manager === 'brew' || process.getuid?.() === 0) return [];
  if (onPath('sudo') === undefined) return undefined;
  const { code } = await run('sudo', ['-n', 'true']);
  return code === 0 ? ['sudo', '-n'] : undefined;
}

function byHand(missing) {
  const lines = missing.map((name) => {
    if (name === 'headers') return HEADERS_BY_HAND;
    const known = Object.entries(TOOLS[name].packages).map(([manager, packageName]) => `${manager}: ${packageName}`);
    return `  ${TOOLS[name].title} (package ${known.join(', ')})`;
  });
  return ['Install by hand, then run this again:', ...lines].join('\n');
}

const HEADERS_BY_HAND = `  Node's headers: ${process.execPath} comes without include/node/node.h.
    Use a Node.js from https://nodejs.org (its archive holds them), or set npm_config_nodedir to a folder that holds
    include/node/node.h of Node.js ${process.versions.node}.`;

/** As test/support/programs/java.ts looks for it. A JRE has no javac; the one of a Mac without a JDK is there but only says so. */
function hasJdk() {
  const unlinked = ['/usr/lib/jvm/default-jvm/bin', '/opt/homebrew/opt/openjdk/bin', '/usr/local/opt/openjdk/bin'];
  const compilers = [onPath('javac'), ...unlinked.map((folder) => path.join(folder, 'javac'))];
  return compilers.some((javac) => javac !== undefined && spawnSync(javac, ['-version']).status === 0);
}

/** As server/test/support/postgres.ts looks for it: Debian keeps each version's programs in a folder off the PATH. */
function hasPostgres() {
  const versions = '/usr/lib/postgresql';
  const folders = existsSync(versions) ? readdirSync(versions).map((name) => path.join(versions, name, 'bin')) : [];
  return onPath('initdb') !== undefined || folders.some((folder) => existsSync(path.join(folder, 'initdb')));
}

function hasSoftHsmLibrary() {
  return hasLibrary('libsofthsm2.so', ['softhsm', 'pkcs11', '.']);
}

/** `inside`: folders below those where a system keeps its libraries. */
function hasLibrary(name, inside) {
  const folders = ['/usr/lib', '/usr/lib64', '/usr/local/lib', '/opt/homebrew/lib'];
  const multiarch = existsSync('/usr/lib') ? readdirSync('/usr/lib').filter((name) => name.includes('-linux-')) : [];
  return [...folders, ...multiarch.map((folder) => path.join('/usr/lib', folder))].some((folder) =>
    inside.some((below) => existsSync(path.join(folder, below, name))),
  );
}
