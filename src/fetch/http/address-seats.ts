// Limits concurrent exchanges per address, not per host name: shared hosting is one machine.
// First come, first served; a request that waits too long fails without having been sent.
import { CrawlError } from '../../errors.js';

export interface Seat {
  readonly address: string;
  leave(): void;
}

export interface AddressSeats {
  /** A seat at the first of the addresses that has one; waits for one to become free. */
  take(addresses: readonly string[], host: string, signal: AbortSignal | undefined): Promise<Seat>;
  readonly waiting: number;
}

interface Waiter {
  readonly addresses: readonly string[];
  readonly give: (seat: Seat) => void;
}

export function createAddressSeats(options: { readonly perAddress: number; readonly maxWaitMs: number }): AddressSeats {
  const { perAddress, maxWaitMs } = options;
  const taken = new Map<string, number>();
  /** In order of arrival. As many as visits are under way, so a scan is short. */
  const waiters = new Set<Waiter>();

  function sit(address: string): Seat {
    taken.set(address, (taken.get(address) ?? 0) + 1);
    let isSitting = true;
    return {
      address,
      leave() {
        if (!isSitting) return;
        isSitting = false;
        const left = taken.get(address)! - 1;
        if (left === 0) taken.delete(address);
        else taken.set(address, left);
        if (waiters.size > 0) callNext(address);
      },
    };
  }

  function callNext(address: string): void {
    for (const waiter of waiters) {
      if (!waiter.addresses.includes(address)) continue;
      waiters.delete(waiter);
      return waiter.give(sit(address));
    }
  }

  function wait(addresses: readonly string[], host: string, signal: AbortSignal | undefined): Promise<Seat> {
    return new Promise((resolve, reject) => {
      const stop = (error: unknown) => {
        waiters.delete(waiter);
        end();
        reject(error);
      };
      const onAbort = () => stop(new CrawlError('ABORTED', `aborted: ${host}`, { cause: signal!.reason }));
      const busy = `${host}: ${perAddress} connections to ${addresses[0]} are open, and none became free in ${maxWaitMs} ms`;
      const timer = setTimeout(() => stop(new CrawlError('ADDRESS_BUSY', busy)), maxWaitMs);
      const end = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
      };
      const waiter: Waiter = {
        addresses,
        give(seat) {
          end();
          resolve(seat);
        },
      };
      waiters.add(waiter);
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  return {
    async take(addresses, host, signal) {
      const free = addresses.find((address) => (taken.get(address) ?? 0) < perAddress);
      return free === undefined ? wait(addresses, host, signal) : sit(free);
    },
    get waiting() {
      return waiters.size;
    },
  };
}
