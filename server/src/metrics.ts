/** What the server counts of its own work, in the text format of Prometheus (version 0.0.4). */

/** In seconds; what an HSM needs lies at the lower end, what waits for one at the upper. */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

export interface Metrics {
  /** An answer that went out. */
  observe(operation: string, status: number, seconds: number): void;
  /** @param gauges values of this moment, with what they mean */
  text(gauges: readonly Gauge[]): string;
}

export interface Gauge {
  readonly name: string;
  readonly help: string;
  readonly value: number;
}

interface Durations {
  /** How many took at most as long as each bucket says. */
  readonly counts: number[];
  sum: number;
  count: number;
}

export function createMetrics(): Metrics {
  const answers = new Map<string, number>();
  const durations = new Map<string, Durations>();
  return {
    observe(operation, status, seconds) {
      const labels = `operation="${operation}",status="${status}"`;
      answers.set(labels, (answers.get(labels) ?? 0) + 1);
      const known = durations.get(operation) ?? { counts: BUCKETS.map(() => 0), sum: 0, count: 0 };
      for (const [index, limit] of BUCKETS.entries())
        if (seconds <= limit) known.counts[index] = (known.counts[index] ?? 0) + 1;
      known.sum += seconds;
      known.count += 1;
      durations.set(operation, known);
    },
    text(gauges) {
      const lines = [
        ...heading('codesign_answers_total', 'counter', 'Answers by operation and HTTP status.'),
        ...[...answers].map(([labels, count]) => `codesign_answers_total{${labels}} ${count}`),
        ...heading('codesign_answer_seconds', 'histogram', 'From the headers of a request to the end of its answer.'),
        ...[...durations].flatMap(([operation, { counts, sum, count }]) => {
          const name = 'codesign_answer_seconds';
          const label = `operation="${operation}"`;
          return [
            ...BUCKETS.map((limit, index) => `${name}_bucket{${label},le="${limit}"} ${counts[index]}`),
            `${name}_bucket{${label},le="+Inf"} ${count}`,
            `${name}_sum{${label}} ${sum}`,
            `${name}_count{${label}} ${count}`,
          ];
        }),
        ...gauges.flatMap(({ name, help, value }) => [...heading(name, 'gauge', help), `${name} ${value}`]),
      ];
      return `${lines.join('\n')}\n`;
    },
  };
}

function heading(name: string, type: string, help: string): readonly string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`];
}
