// Addresses are the identity of a synthetic host: they must survive the way through URL and socket.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addressOf, createNameReader, createOrigins, hostAtAddress, isLoopback } from './addresses.js';
import { planSimweb } from './options.js';

describe('addresses of synthetic hosts', () => {
  it('gives every host its own loopback address and finds the host from it', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 254 * 256 * 256 - 1 }), (host) => {
        const address = addressOf(host);
        expect(isLoopback(address)).toBe(true);
        expect(address).not.toMatch(/\.(0|255)$/);
        expect(hostAtAddress(address)).toBe(host);
        expect(hostAtAddress(`::ffff:${address}`)).toBe(host);
      }),
    );
    expect(addressOf(0)).toBe('127.0.0.1');
    expect(addressOf(254)).toBe('127.0.1.1');
  });

  it('knows no host at other addresses', () => {
    for (const address of ['10.0.0.1', '127.0.0.255', '127.0.0.0', '::1', '', '127.0.0']) {
      expect(hostAtAddress(address)).toBe(-1);
    }
    expect(isLoopback('192.168.1.4')).toBe(false);
    expect(isLoopback('::ffff:192.168.1.4')).toBe(false);
    expect(isLoopback(undefined)).toBe(false);
  });

  it('reads the host from its name in the Host header', () => {
    const read = createNameReader(planSimweb({ addressing: 'names', hosts: 20, hostName: 'site{n}.example.test' }));
    expect(read('site7.example.test:8080')).toBe(7);
    expect(read('SITE19.example.test')).toBe(19);
    for (const header of ['site20.example.test', 'site.example.test', 'site-1.example.test', 'other.test', undefined]) {
      expect(read(header)).toBe(-1);
    }
  });

  it('sends clients of a refusing host to the port where nobody listens', () => {
    const origin = createOrigins(
      planSimweb({ addressing: 'addresses', hosts: 2 }),
      { listening: [81], closed: 82 },
      (host) => host === 1,
    );
    expect([origin(0), origin(1)]).toEqual(['http://127.0.0.1:81', 'http://127.0.0.2:82']);
  });
});
