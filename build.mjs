// Builds dist (the command line and the library, bundled with all their packages) and server/dist (the server without its
// packages). Run it with `npm run build`.
//
// The build defines the constants CODESIGN_REMOTE_VERSION, CODESIGN_REMOTE_REVISION and CODESIGN_REMOTE_BUILD_TIME. In a
// run from source, they are not declared (see src/app/version.ts). A module that is imported with `await import(…)` becomes
// a separate file in dist.
import { execFileSync, spawn } from 'node:child_process';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { build as rolldown } from 'rolldown';
import { writeDocuments } from './docs/generate/write-documents.mjs';

const root = path.dirname(fileURLToPath(import.meta.url));
const inRoot = (...parts) => path.join(root, ...parts);
const fromRoot = (file) => path.relative(root, path.resolve(root, file)).replaceAll(path.sep, '/');
const readJson = async (...parts) => JSON.parse(await readFile(inRoot(...parts), 'utf8'));

const manifest = await readJson('package.json');
const serverManifest = await readJson('server', 'package.json');
const constants = versionConstants(manifest.version);
const target = ({ engines }) => `node${engines.node.replace(/[^\d.]/g, '')}`;
/** Entry points that package.json exports with types. */
const ENTRIES = ['index', 'hooks/electron-builder', 'hooks/electron-windows-sign'];

/** dist/*.js contains the library and the worker; dist/*.cjs the command line, and the library for CommonJS. */
async function buildClient() {
  const library = await bundle('.js', {
    input: {
      index: 'src/index.ts',
      'digest-worker': 'src/zip/digest-worker.ts',
      'electron-builder': 'src/hooks/electron-builder.ts',
      'electron-windows-sign': 'src/hooks/electron-windows-sign.ts',
    },
    // Node.js prints the line of source in which an uncaught error was thrown, so lines stay short.
    output: { format: 'esm', minify: false },
  });
  // As CommonJS the command line starts 40 ms faster than as ES modules (docs/decisions/compiled-code.md).
  const parts = [
    { name: 'start', entry: 'src/cli/main.ts' },
    { name: 'prepare', entry: 'src/cli/prepare-process.ts' },
    { name: 'program', entry: 'src/cli/program.ts' },
    { name: 'sign', entry: 'src/cli/commands/sign.ts' },
  ];
  const { plugin, imports } = findImports(parts.map(({ entry }) => inRoot(entry)));
  const commandLine = await bundle('.cjs', {
    input: { cli: 'src/cli/main.ts' },
    plugins: [plugin],
    output: {
      format: 'cjs',
      // A command should load few files (many small files take longer) that contain little else.
      codeSplitting: {
        groups: [
          ...parts.map(({ name, entry }) => ({ name, test: (id) => imports(inRoot(entry)).has(id) })),
          { debugName: 'shared', name: sharedFolder, minShareCount: 2 },
          // Only --inside loads these modules.
          { name: 'contents', test: /\/src\/formats\/(pe\/appended|msi\/contents|cabinet-contents|zip-contents)\.ts$/ },
          { debugName: 'formats', name: (id) => /\/src\/formats\/([^/]+)\//.exec(id)?.[1] },
        ],
      },
    },
  });
  const chunks = [...library, ...commandLine];
  const inputs = chunks.flatMap(({ modules }) =>
    Object.entries(modules).map(([id, { renderedLength }]) => [id, renderedLength]),
  );
  await finish(
    'dist',
    inputs,
    chunks.map(({ fileName }) => `dist/${fileName}`),
    ['types', 'man', 'schema'],
  );
  for (const name of ENTRIES.map((entry) => path.posix.basename(entry))) {
    // Every supported Node.js version can require an ES module without top-level await.
    await writeFile(inRoot('dist', `${name}.cjs`), `module.exports = require('./${name}.js');\n`);
  }
}

/** release/program contains the command line and its worker, one file each, for single executables (scripts/release.mjs). */
async function buildForExecutables() {
  const output = { dir: inRoot('release', 'program'), format: 'cjs', codeSplitting: false };
  await bundle('.cjs', { input: { cli: 'src/cli/executable.ts' }, output });
  await bundle('.cjs', { input: { 'digest-worker': 'src/zip/digest-worker.ts' }, output });
}

/** Writes a bundle with all its packages to dist. Returns its files. */
async function bundle(extension, { input, plugins = [], output }) {
  const { output: files } = await rolldown({
    cwd: root,
    input,
    platform: 'node',
    plugins: [undiciAgent, ...plugins],
    transform: { target: target(manifest), define: constants },
    checks: { ineffectiveDynamicImport: false },
    output: {
      dir: inRoot('dist'),
      entryFileNames: `[name]${extension}`,
      chunkFileNames: `[name]-[hash]${extension}`,
      // Keeps names, so that stack traces from users are readable.
      minify: { compress: true, mangle: false, codegen: { removeWhitespace: true } },
      comments: false,
      ...output,
    },
  });
  return files;
}

/** After parsing, `imports` returns all modules that an entry imports statically, also indirectly. */
function findImports(entries) {
  const found = new Map();
  const plugin = {
    name: 'find-imports',
    buildEnd() {
      for (const entry of entries) {
        const modules = new Set([entry]);
        for (const id of modules)
          for (const imported of this.getModuleInfo(id)?.importedIds ?? []) modules.add(imported);
        found.set(entry, modules);
      }
    },
  };
  return { plugin, imports: (entry) => found.get(entry) };
}

/** Returns the package, or the folder of src. Formats have separate chunks. */
function sharedFolder(id) {
  const [, folder] =
    /\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(id) ?? /\/src\/(?!formats\/)([^/]+)\//.exec(id) ?? [];
  return folder?.replace('/', '-');
}

const [AGENT, NOTHING] = ['\0agent', '\0nothing'];
/**
 * Bundles undici's agent without unreachable code: the rest of the main file, HTTP/2 (the connector uses HTTP/1.1 only)
 * and form data. See docs/decisions/http-client.md.
 */
const undiciAgent = {
  name: 'undici-agent',
  resolveId(id, importer) {
    if (id === 'undici') return AGENT;
    // undici contains the parser twice. Short responses gain nothing from SIMD, so the parser without SIMD is enough.
    if (id.endsWith('/llhttp_simd-wasm.js')) return this.resolve(id.replace('_simd', ''), importer);
    return /\/(client-h2\.js|fetch\/body\.js)$/.test(id) ? NOTHING : undefined;
  },
  load(id) {
    if (id === AGENT) return "export { default as Agent } from 'undici/lib/dispatcher/agent.js';";
    return id === NOTHING ? '' : undefined;
  },
};

/** Builds the server and the API's messages to server/dist, without the server's dependencies. */
async function buildServer() {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: { main: 'server/src/main.ts' },
    outdir: 'server/dist',
    external: Object.keys(serverManifest.dependencies),
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: target(serverManifest),
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: 'none',
    metafile: true,
    define: constants,
    chunkNames: '[name]-[hash]',
    logLevel: 'error',
  });
  const inputs = Object.values(metafile.outputs).flatMap((output) =>
    Object.entries(output.inputs).map(([file, { bytesInOutput }]) => [file, bytesInOutput]),
  );
  await finish('server/dist', inputs, Object.keys(metafile.outputs));
}

/** Writes the notices, and removes files of an earlier build. `inputs` lists the bundled files with their lengths. */
async function finish(folder, inputs, files, folders = []) {
  const notices = `${folder}/THIRD-PARTY-NOTICES.txt`;
  await writeFile(inRoot(notices), await thirdPartyNotices(inputs));
  const kept = new Set([...files, notices]);
  for (const file of await filesUnder(folder)) {
    const inside = path.posix.relative(folder, file);
    if (!kept.has(file) && !folders.some((name) => inside.startsWith(`${name}/`))) await rm(inRoot(file));
  }
}

/** Returns the licences of all packages whose code is in the bundle. */
async function thirdPartyNotices(inputs) {
  const folders = inputs
    .filter(([, bytes]) => bytes > 0)
    .map(([file]) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(fromRoot(file))?.[1])
    .filter((folder) => folder !== undefined);
  const notices = [];
  for (const folder of [...new Set(folders)].sort()) {
    const { name, version, license, homepage } = await readJson(folder, 'package.json');
    const own = (await readdir(inRoot(folder))).filter((file) => /^(licen[cs]e|copying|notice)/i.test(file)).sort();
    // docs/licences contains the licences of packages that do not include one.
    const licence =
      own.length > 0 ? own.map((file) => inRoot(folder, file)) : [inRoot('docs', 'licences', `${name}.txt`)];
    const texts = await Promise.all(licence.map((file) => readFile(file, 'utf8')));
    const heading = [`${name} ${version} (${license})`, ...(homepage ? [homepage] : [])].join('\n');
    notices.push(`${heading}\n\n${texts.map((text) => text.trim()).join('\n\n')}\n`);
  }
  return `This folder contains code of these packages:\n\n${notices.join(`\n${'-'.repeat(72)}\n\n`)}`;
}

/** Writes the declarations of the entry points and of all their types to dist/types, as .d.ts and as .d.cts (CommonJS). */
async function buildDeclarations() {
  const types = 'dist/types';
  await rm(inRoot(types), { recursive: true, force: true });
  await mkdir(inRoot(types), { recursive: true });
  await run(process.execPath, ['node_modules/typescript-7/bin/tsc', '-p', 'tsconfig.types.json', '--outDir', types]);
  const reached = new Set();
  for (const entry of ENTRIES) await keepReachable(`${types}/${entry}.d.ts`, reached, []);
  for (const file of await filesUnder(types)) {
    if (!file.endsWith('.cts') && !reached.has(file)) await rm(inRoot(file));
  }
}

/** Follows the imports of a declaration file, and replaces their extension .ts by .js. */
async function keepReachable(file, reached, importers) {
  if (reached.has(file)) return;
  reached.add(file);
  const text = await readFile(inRoot(file), 'utf8');
  const imported = [];
  const rewritten = text.replace(/((?:from|import)\s*\(?\s*['"])([^'"]+)(?=['"])/g, (_all, before, specifier) => {
    if (!specifier.startsWith('.')) {
      if (specifier.startsWith('node:')) return before + specifier;
      const trail = [...importers, file].join(' → ');
      throw new Error(`users of the library do not have the package ${specifier}, whose types show through ${trail}`);
    }
    imported.push(path.posix.join(path.posix.dirname(file), specifier.replace(/\.ts$/, '.d.ts')));
    return before + specifier.replace(/\.ts$/, '.js');
  });
  await writeFile(inRoot(file), rewritten);
  await writeFile(inRoot(file.replace(/\.ts$/, '.cts')), rewritten.replace(/(['"]\.[^'"]+)\.js(?=['"])/g, '$1.cjs'));
  for (const next of imported) await keepReachable(next, reached, [...importers, file]);
}

/** Uses the time of the commit, so that the same commit always builds the same bytes. */
function versionConstants(version) {
  const git = (...args) => {
    try {
      return execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
    } catch {
      return ''; // A source archive has neither revision nor time.
    }
  };
  const isClone = git('rev-parse', '--show-prefix') === '' && git('rev-parse', '--is-inside-work-tree') === 'true';
  const values = {
    CODESIGN_REMOTE_VERSION: version,
    CODESIGN_REMOTE_REVISION: isClone ? git('describe', '--always', '--dirty', '--exclude=*') : '',
    CODESIGN_REMOTE_BUILD_TIME: isClone ? new Date(Number(git('log', '-1', '--format=%ct')) * 1000).toISOString() : '',
  };
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, value === '' ? 'undefined' : JSON.stringify(value)]),
  );
}

/** Returns all files in a folder and its subfolders, relative to the root, with forward slashes. */
async function filesUnder(folder) {
  const entries = await readdir(inRoot(folder), { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => fromRoot(path.join(entry.parentPath, entry.name)));
}

/** Throws an error with the program's output if the program fails. */
async function run(command, args) {
  const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  for await (const chunk of child.stdout) output += chunk;
  const code = child.exitCode ?? (await new Promise((resolve) => child.once('close', resolve)));
  if (code !== 0) throw new Error(`${args[0]} failed:\n${output.trim()}`);
}

const builds = process.argv.includes('--executables')
  ? [buildForExecutables()]
  : [buildClient(), buildDeclarations(), buildServer(), writeDocuments(root)];
const results = await Promise.allSettled(builds);
const failures = results.filter((result) => result.status === 'rejected');
for (const { reason } of failures) console.error(`build: ${reason.message}`);
process.exitCode = failures.length > 0 ? 1 : 0;
