/** What the server measures of its own work, for Prometheus. */

import { Counter, Gauge, Histogram, Registry } from 'prom-client';

/** In seconds. An HSM answers at the lower end; a call that waits for one answers at the upper. */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export interface Metrics {
  readonly contentType: string;
  /** Counts an answer that was sent. */
  observe(operation: string, status: number, seconds: number): void;
  /** All metrics in the text format of Prometheus. */
  text(): Promise<string>;
}

/** @param underWay gives the number of signatures that are being made */
export function createMetrics(underWay: () => number): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const answers = new Counter({
    name: 'codesign_answers_total',
    help: 'Answers by operation and HTTP status.',
    labelNames: ['operation', 'status'],
    registers,
  });
  const durations = new Histogram({
    name: 'codesign_answer_seconds',
    help: 'Time from the headers of a request to the end of its answer.',
    labelNames: ['operation'],
    buckets: BUCKETS,
    registers,
  });
  new Gauge({
    name: 'codesign_signatures_under_way',
    help: 'Calls of sign that hold a session of the HSM or wait for one.',
    registers,
    collect() {
      this.set(underWay());
    },
  });
  return {
    contentType: registry.contentType,
    observe(operation, status, seconds) {
      answers.inc({ operation, status });
      durations.observe({ operation }, seconds);
    },
    text: () => registry.metrics(),
  };
}
