// What has a bound of its own: waits for the service, the start of the interpreter, and memory.
import { mkdirSync } from 'node:fs';
import { compete, least, median } from '../measure.mjs';
import { CLI, freshRun, makeLarge, nodes, signInPlace } from './programs.mjs';

const [{ version, path: node }] = nodes();
const WAIT = { files: 200, milliseconds: 50, concurrency: 16 };
const MEBIBYTE = 1024 * 1024;

export function withoutComparison() {
  const memory = { of: '', node: version, unit: 'MiB' };
  return [
    {
      work: '200 programs, 50 ms each, 16 at once, wall',
      of: 'its waits',
      node: version,
      most: 1.8,
      unit: '×',
      measure: waits,
    },
    ...nodes().map((of) => ({
      work: '--version, processor',
      of: 'the interpreter',
      node: of.version,
      most: 10,
      unit: 'ms',
      measure: (setting) => start(setting, of.path),
    })),
    { ...memory, work: 'PE 100 MB, memory', most: 63, measure: (setting) => peakOf(setting, 1, 100_000_000) },
    { ...memory, work: '300 programs, memory', most: 86, measure: (setting) => peakOf(setting, 300) },
  ];
}

/** The time of one file whose answer comes immediately is not counted. */
async function waits({ folder, standIn, rounds }) {
  const before = ({ files, wait }) => {
    const { programs, env } = freshRun(folder, standIn.env(wait), files);
    return { command: signInPlace(node, programs), env };
  };
  const contestants = [
    { name: 'one', files: 1, wait: 0 },
    { name: 'all', files: WAIT.files, wait: WAIT.milliseconds },
  ];
  const { one, all } = await compete(contestants, { rounds, before });
  const theirs = (WAIT.files * WAIT.milliseconds) / WAIT.concurrency;
  const ours = median(all.map(({ wall }) => wall)) - median(one.map(({ wall }) => wall));
  return { result: ours / theirs, ours, theirs };
}

async function start({ folder, rounds }, interpreter) {
  mkdirSync(folder, { recursive: true });
  const env = { XDG_CACHE_HOME: folder };
  const contestants = [
    { name: 'bare', command: [interpreter, '-e', '0'] },
    { name: 'ours', command: [interpreter, CLI, '--version'], env },
  ];
  const { bare, ours } = await compete(contestants, { rounds: rounds * 3 });
  const over = least(ours, 'processor') - least(bare, 'processor');
  const ofRounds = median(ours.map(({ processor }, round) => processor - bare[round].processor));
  return { result: over, ofRounds, ours: least(ours, 'processor'), theirs: least(bare, 'processor') };
}

async function peakOf({ folder, standIn, rounds }, files, bytes) {
  const before = () => {
    const { programs, env } = freshRun(folder, standIn.env(), files);
    if (bytes !== undefined) makeLarge(programs[0], bytes);
    return { command: signInPlace(node, programs), env };
  };
  const { ours } = await compete([{ name: 'ours' }], { rounds, before });
  return { result: median(ours.map(({ peak }) => peak)) / MEBIBYTE };
}
