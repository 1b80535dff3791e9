/** Batches through real reverse proxies that are reloaded in the middle: what fails was under way, and nothing is paid twice without a warning. */

import { expect, it } from 'vitest';
import { REVERSE_PROXIES, startReverseProxy } from '../../../support/network/reverse-proxies.ts';
import { startTcpRelay } from '../../../support/network/tcp-relay.ts';
import { parseJson, runCliProcess } from '../../../support/programs/cli.ts';
import { makePrograms, startScene } from '../../../support/runs/resume-scene.ts';

const FILES = 60;
const CONCURRENCY = 16;

it.each(REVERSE_PROXIES)('%s is reloaded twice while 60 files are signed', { timeout: 60_000 }, async (name) => {
  for (const repetitions of [0, 20]) {
    await using scene = await startScene('good', { plain: true });
    const { folder, service, env } = scene;
    const paths = await makePrograms(folder, FILES);
    await using proxy = await startReverseProxy(name, Number(new URL(service.baseUrl).port));
    await using relay = await startTcpRelay({ port: proxy.port, roundTripMilliseconds: 100 });
    const sign = (onStart?: () => void) =>
      runCliProcess(
        ['sign', '--json', '--no-timestamp', '-j', `${CONCURRENCY}`, '--repeat-unknown', `${repetitions}`, ...paths],
        {
          env: { ...env, CODESIGN_BASE_URL: `https://127.0.0.1:${relay.port}`, CODESIGN_CA_FILE: proxy.caFile },
          onStart,
        },
      );
    const reloadTwice = (): void => {
      // Far enough apart that a call sent once more after the first is answered before the second.
      const at = [FILES / 4, (3 * FILES) / 4];
      const watch = setInterval(() => {
        if (service.signRequests() < (at[0] ?? FILES)) return;
        at.shift();
        proxy.reload();
        if (at.length === 0) clearInterval(watch);
      }, 1);
    };

    const first = await sign(reloadTwice);
    const { summary, files } = parseJson(first);
    const errors = files.flatMap(({ error }) => error?.code ?? []);
    expect(errors.filter((code) => code !== 'connection-broken')).toEqual([]);
    expect(errors.length).toBeLessThanOrEqual(repetitions === 0 ? 2 * CONCURRENCY : 0);
    expect(summary.notAttempted).toBe(0);

    const repeated = first.stdout.match(/was sent once more/g) ?? [];
    // Until it has ended well, the same command uses what it has.
    if (errors.length > 0) expect(await sign()).toMatchObject({ code: 0 });
    expect(service.signRequests()).toBeGreaterThanOrEqual(FILES);
    expect(service.signRequests()).toBeLessThanOrEqual(FILES + errors.length + repeated.length);
  }
});
