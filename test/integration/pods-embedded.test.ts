// Embedded pods, seen from inside: how links that one pod found reach the worker of another.
import { afterEach, expect, it } from 'vitest';
import { openEmbeddedStore, openPodInbox } from '../../src/pods/stores/embedded-store.js';
import type { PodsConfig } from '../../src/pods/config/types.js';
import { packOutbox } from '../../src/pods/worker/routing-client.js';
import { podOfDomain } from '../../src/pods/topology.js';
import type { QueueEntry } from '../../src/frontier/frontier.js';
import { Log, LogLevel } from '../../src/observe/log.js';
import { fingerprintOf } from '../../src/request/fingerprint.js';
import { temporaryFolder } from '../support/crawl.js';

const silent = new Log({ level: LogLevel.OFF });
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function twoPods(durability: PodsConfig['durability']): Promise<PodsConfig> {
  const folder = await temporaryFolder();
  return {
    pods: [0, 1].map((pod) => ({ kind: 'embedded', path: `${folder}/pod${pod}` })),
    durability,
    leaseSeconds: 60,
    politenessDelaySeconds: 0,
    maxConnectionsPerAddress: 20,
  } as unknown as PodsConfig;
}

function openStore(config: PodsConfig, pod: number, onArrived: () => void) {
  return openEmbeddedStore({
    config,
    place: { role: 'fetcher', pod, id: 0 },
    log: silent,
    signal: new AbortController().signal,
    checkAssignment: false,
    onHolder: () => undefined,
    onProgress: () => undefined,
    onRolledBack: () => undefined,
    onSent: () => undefined,
    onArrived,
    allowance: undefined,
  });
}

function linkTo(pod: number): QueueEntry {
  const domain = Array.from({ length: 50 }, (_, n) => `site${n}.example`).find((one) => podOfDomain(one, 2) === pod)!;
  const record = `https://${domain}/`;
  return { fingerprint: fingerprintOf(record), domain, record };
}

it.each(['process', 'machine'] as const)(
  'wakes a worker that waits for work when links of another pod came in (durability: %s)',
  async (durability) => {
    const config = await twoPods(durability);
    let leased = 0;
    const arrived = new Promise<void>((resolve, reject) => {
      void openStore(config, 1, () => {
        // What woke it must be there to be leased: it does not look again for up to a second.
        void store.client.lease({ max: 10 }).then(({ leases }) => {
          leased = leases.length;
          resolve();
        }, reject);
      }).then((opened) => {
        store = opened;
        closing.push(opened.close);
        const inbox = openPodInbox(config, 1);
        closing.push(inbox.close);
        void inbox.append(packOutbox([linkTo(1)]), 1);
      }, reject);
    });
    let store: Awaited<ReturnType<typeof openStore>>;
    await arrived;
    expect(leased).toBe(1);
  },
);
