// The layers, from the lowest: a file imports only from lower layers, or from its own folder. Type imports count too.
const LAYERS = [
  ['errors'],
  ['secrets', 'bytes'],
  ['crypto'],
  ['asn1'],
  ['zip', 'cabinet', 'compound-file', 'pdf-syntax', 'http', 'certificates'],
  ['cms'],
  ['timestamp'],
  ['format'],
  ['authenticode'],
  ['formats', 'service', 'journal'],
  ['options'],
  ['files'],
  ['signing', 'verifying'],
  ['containers'],
  ['policy'],
  ['app'],
  ['doctor'],
  ['cli', 'index.ts'],
  ['hooks'],
];
const below = (layer) => LAYERS.slice(0, layer).flat();
const pattern = (folder) => (folder.endsWith('.ts') ? folder.replace('.', '\\.') : `${folder}/`);

const layerRules = LAYERS.flatMap((folders, layer) =>
  folders.map((folder) => ({
    name: `layer-${folder.replace('.ts', '')}`,
    comment: `src/${folder} may import: ${below(layer).join(', ') || 'nothing but node: and packages'}`,
    severity: 'error',
    from: { path: `^src/${pattern(folder)}` },
    to: { path: '^src/', pathNot: [folder, ...below(layer)].map((allowed) => `^src/${pattern(allowed)}`) },
  })),
);

module.exports = {
  forbidden: [
    ...layerRules,
    { name: 'no-circles', severity: 'error', from: { path: '^(src|server)/' }, to: { circular: true } },
    {
      name: 'lowest-layers-use-node-only',
      severity: 'error',
      from: { path: '^src/(errors|secrets|bytes)/' },
      to: { dependencyTypesNot: ['core', 'local'] },
    },
    {
      name: 'a-format-knows-no-other',
      severity: 'error',
      from: { path: '^src/formats/([^/]+)/' },
      to: { path: '^src/formats/[^/]+/', pathNot: '^src/formats/$1/' },
    },
    {
      name: 'signing-names-no-format',
      severity: 'error',
      from: { path: '^src/(files|signing|verifying)/' },
      to: {
        path: '^src/formats/',
        pathNot: '^src/formats/(catalogs|recognise)\\.ts$',
      },
    },
    {
      name: 'formats-do-no-io',
      comment: 'Formats take bytes and give edits: no files, no network.',
      severity: 'error',
      from: { path: '^src/(format|formats|authenticode|cms)/' },
      to: { path: '^(node:)?(fs|fs/promises|http|https|net|tls|child_process|worker_threads)$' },
    },
    {
      name: 'server-shares-only-messages',
      severity: 'error',
      from: { path: '^server/src/' },
      to: { path: '^src/', pathNot: '^src/(service/messages|crypto/algorithms|options/suggest)\\.ts$' },
    },
    {
      name: 'source-imports-no-test',
      severity: 'error',
      from: { path: '^(src|server/src)/' },
      to: { path: '(^|/)(test|conformance)/' },
    },
    { name: 'resolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default', 'types'] },
  },
};
