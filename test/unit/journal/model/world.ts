/** What is outside the database: processes with their memory, files, the service, and how often something may go wrong. */

/** What a file of a run does next; the last line are ends. */
export type Step =
  | 'known'
  | 'claim'
  | 'request'
  | 'send'
  | 'receive'
  | 'write'
  | 'note-written'
  | 'report'
  | 'note-report'
  | 'done'
  | 'failed';

export interface Thread {
  step: Step;
  readonly path: string;
  readonly work: number;
  /** What stands in the file since it was opened: the call whose signature it has, or 0. */
  readonly opened: number;
  /** Only writes what is on record, as `resume` does. */
  readonly resumes: boolean;
  call: number;
  name: string;
  status: 1 | 2;
  /** Names of calls that the user was warned of. */
  warned: string[];
  isRepeated: boolean;
  /** Index of the request whose answer it waits for. */
  request: number;
}

export interface Actor {
  readonly kind: 'sign' | 'resume';
  /** The certificate that the run has; the service signs with `A`. */
  readonly certificate: string;
  readonly files: readonly (readonly [path: string, work: number])[];
  state: 'idle' | 'alive' | 'stopping' | 'over';
  /** Others see no process any more, though it may go on. */
  isPresumedGone: boolean;
  lives: number;
  run: number;
  began: number;
  pid: number;
  threads: Thread[];
}

export interface Request {
  readonly call: number;
  readonly name: string;
  readonly work: number;
  readonly actor: number;
  /** Undefined as long as it is under way. */
  answer: Answer | undefined;
  /** The signature is in the hands of the program. */
  isGiven: boolean;
}

export type Answer = 'good' | 'unusable' | 'refused' | 'throttled' | 'none' | 'lost';

/** How often each may happen. */
export interface Budget {
  kill: number;
  interrupt: number;
  presume: number;
  unusable: number;
  refused: number;
  throttled: number;
  none: number;
  repeat: number;
  writeFails: number;
  reportFails: number;
  forget: number;
}

export interface World {
  readonly actors: Actor[];
  readonly budget: Budget;
  requests: Request[];
  /** Reports that have reached the service. */
  reports: { readonly call: number; readonly status: 1 | 2 }[];
  /** The call whose signature a file has. */
  files: Record<string, number>;
  /** Calls given up by the user. */
  forgotten: number[];
}

const NONE: Budget = {
  ...{ kill: 0, interrupt: 0, presume: 0, unusable: 0, refused: 0, throttled: 0, none: 0, repeat: 0 },
  ...{ writeFails: 0, reportFails: 0, forget: 0 },
};

export interface Player {
  readonly kind?: 'sign' | 'resume';
  readonly certificate?: string;
  readonly files?: Actor['files'];
  readonly lives?: number;
}

const BEFORE_A_RUN = { run: 0, began: 0, pid: 0 };

export function worldOf(players: readonly Player[], budget: Partial<Budget>): World {
  const actors = players.map(({ kind = 'sign', certificate = 'A', files = [], lives = 1 }): Actor => {
    return { kind, certificate, files, lives, state: 'idle', isPresumedGone: false, ...BEFORE_A_RUN, threads: [] };
  });
  return { actors, budget: { ...NONE, ...budget }, requests: [], reports: [], files: {}, forgotten: [] };
}

export function threadOf(path: string, work: number, opened: number, more: Partial<Thread> = {}): Thread {
  const nothing = { call: 0, name: '', status: 1 as const, warned: [], isRepeated: false, request: -1 };
  return { step: 'known', path, work, opened, resumes: false, ...nothing, ...more };
}

export function isOver({ step }: Thread): boolean {
  return step === 'done' || step === 'failed';
}
