/** Who holds a claim, and whether that process still runs: told by process, boot and host. */

export interface Holder {
  readonly host: string;
  /** Differs after each start of the machine; undefined where it does not tell. */
  readonly boot: string | undefined;
  /** The set of processes that the pid belongs to: containers have their own, on one host. Undefined where there is one set. */
  readonly space: string | undefined;
  readonly pid: number;
  /** When the process started, in the system's own unit; undefined where it does not tell. */
  readonly started: string | undefined;
}

export interface Processes {
  readonly self: Holder;
  /** Undefined when it cannot be told from here: another host or container, or a pid that may have been given away since. */
  isRunning(holder: Holder): Promise<boolean | undefined>;
}
