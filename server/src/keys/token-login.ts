import { ServerError } from '../errors.ts';
import {
  asHsmError,
  attempt,
  findSlot,
  type Handle,
  initialize,
  isKeyMissing,
  isLost,
  isPinRejected,
  type Library,
} from './pkcs11-library.ts';
import { createSessionPool } from './session-pool.ts';

/** Milliseconds between two logins to an unavailable HSM. Each login may block in the library. */
const PAUSE = 1000;
/** Milliseconds between two logins to find a missing key. Each login interrupts signing with other keys. */
const PAUSE_FOR_KEY = 5000;

/** Logs in to a token, and again if the HSM closed the sessions or was restarted. */
export function logIn(library: Library, { label, pin: firstPin }: { readonly label: string; readonly pin: string }) {
  let pin = firstPin;
  let rejection: unknown;
  let lookedForKey = Number.NEGATIVE_INFINITY;
  const { p11, module } = library;
  const open = (slot: Handle, flags: number): Handle =>
    attempt('open a session', () => module.C_OpenSession(slot, p11.CKF_SERIAL_SESSION | flags));
  const start = () => {
    const slot = attempt('list its tokens', () => findSlot(library, label));
    // A login lasts for the whole process while at least one session is open.
    const anchor = open(slot, 0);
    try {
      module.C_Login(anchor, p11.CKU_USER, pin);
    } catch (error) {
      if (!isPinRejected(library, error)) throw asHsmError('log in', error);
      rejection = new ServerError('pin-rejected', { token: label }, error);
      throw rejection;
    }
    return { slot, handles: new Map<string, Handle>() };
  };
  let current: ReturnType<typeof start> | undefined = start();
  let recovery: Promise<void> | undefined;
  let failure: { readonly at: number; readonly error: unknown } | undefined;

  const pool = (flags: number) =>
    createSessionPool<Handle>(
      () => open(login().slot, flags),
      (session) => quietly(() => module.C_CloseSession(session)),
    );
  const pools = { signing: pool(0), generating: pool(p11.CKF_RW_SESSION) };
  const login = () => {
    if (current === undefined) current = restart();
    return current;
  };
  const restart = () => {
    if (rejection !== undefined) throw rejection;
    if (failure !== undefined && performance.now() - failure.at < PAUSE) throw failure.error;
    try {
      attempt('start its library', () => initialize(library));
      return start();
    } catch (error) {
      failure = { at: performance.now(), error };
      quietly(() => module.C_Finalize());
      throw error;
    }
  };
  /** No call may use the library while it is finalised, so running calls end first and later calls wait. */
  const recover = async (lost: typeof current): Promise<void> => {
    if (current !== lost || lost === undefined) return;
    await Promise.all([pools.signing.drain(), pools.generating.drain()]);
    for (const each of Object.values(pools)) each.forget();
    current = undefined;
    quietly(() => module.C_Finalize());
    login();
  };

  const shouldLookForKey = (error: unknown): boolean => {
    if (!isKeyMissing(error) || performance.now() - lookedForKey < PAUSE_FOR_KEY) return false;
    lookedForKey = performance.now();
    return true;
  };

  return {
    /**
     * Runs `work` with a session, and retries once if the sessions or the token were lost.
     * @param operation name of the operation in error messages
     * @param work receives the handles of keys by id, which are valid until the login ends
     */
    async withSession<T>(
      kind: keyof typeof pools,
      operation: string,
      work: (session: Handle, handles: Map<string, Handle>) => Promise<T>,
    ): Promise<T> {
      let used: typeof current;
      const once = async () => {
        await recovery;
        used = current; // also if opening a session fails
        return await pools[kind].use(async (session) => {
          used = login();
          return await work(session, used.handles).catch((error: unknown) => {
            throw asHsmError(operation, error);
          });
        });
      };
      try {
        return await once();
      } catch (error) {
        if (!isLost(library, error) && !shouldLookForKey(error)) throw error;
        recovery ??= recover(used)
          .catch(() => {}) // the second attempt reports it
          .finally(() => {
            recovery = undefined;
          });
        return await once();
      }
    },
    /** Uses this PIN for the next login. A rejected PIN is not tried again until this function is called. */
    usePin(given: string): void {
      pin = given;
      rejection = undefined;
      failure = undefined;
    },
    async close(): Promise<void> {
      await Promise.all([pools.signing.drain(), pools.generating.drain()]);
      const { slot } = current ?? {};
      if (slot !== undefined) quietly(() => module.C_CloseAllSessions(slot));
    },
  };
}

function quietly(work: () => void): void {
  try {
    work();
  } catch {
    // The HSM may have closed the session.
  }
}
