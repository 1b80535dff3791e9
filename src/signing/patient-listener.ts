/** A listener that throws must not make a file count as failed that is done. */

export interface PatientListener<Event> {
  readonly onEvent: (event: Event) => void;
  /** Whole sentences: the first failure, if there was one. */
  readonly warnings: readonly string[];
}

/** As `listener`, but what it throws is told of once, as a warning. */
export function patientListener<Event>(listener: (event: Event) => void): PatientListener<Event> {
  const warnings: string[] = [];
  const onEvent = (event: Event): void => {
    try {
      listener(event);
    } catch (thrown) {
      if (warnings.length === 0) warnings.push(`The listener for events failed: ${String(thrown)}`);
    }
  };
  return { onEvent, warnings };
}
