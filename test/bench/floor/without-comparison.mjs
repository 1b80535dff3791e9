// What has a bound of its own: waits for the service, the start of the interpreter, and memory.
import { mkdirSync } from 'node:fs';
import { compete, least, median } from '../measure.mjs';
import { CLI, freshRun, makeLarge, nodes, rowsWith, signInPlace } from './programs.mjs';

const [{ version, path: node }] = nodes();
const WAIT = { files: 200, milliseconds: 50, concurrency: 16 };
const MEBIBYTE = 1024 * 1024;

export function withoutComparison() {
  const row = rowsWith(version);
  return [
    row('200 programs, 50 ms each, 16 at once, wall', 'its waits', 1.8, waits),
    ...nodes().map((of) =>
      rowsWith(of.version)('--version, processor', 'the interpreter', 10, (setting) => start(setting, of.path), 'ms'),
    ),
    row('PE 100 MB, memory', '', 63, (setting) => peakOf(setting, 1, 100_000_000), 'MiB'),
    row('300 programs, memory', '', 86, (setting) => peakOf(setting, 300), 'MiB'),
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
