import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { createAddressGuard, isLocalhostName, literalAddress, specialKind } from './guard.js';

/** Every special range by its first, an inner and its last address. */
const REFUSED: readonly (readonly [kind: string, ...addresses: string[]])[] = [
  ['unspecified', '0.0.0.0', '0.1.2.3', '0.255.255.255', '::', '0:0:0:0:0:0:0:0', '::ffff:0.0.0.0'],
  ['private', '10.0.0.0', '10.255.255.255', '172.16.0.0', '172.31.255.255', '192.168.0.0', '192.168.255.255'],
  ['carrier-grade NAT', '100.64.0.0', '100.100.100.200', '100.127.255.255'],
  ['loopback', '127.0.0.1', '127.255.255.254', '::1', '0:0:0:0:0:0:0:1', '::ffff:127.0.0.1', '::ffff:7f00:1'],
  ['cloud metadata', '169.254.169.254', '::ffff:a9fe:a9fe', 'fd00:ec2::254', '168.63.129.16'],
  ['link-local', '169.254.0.1', '169.254.255.255', 'fe80::1', 'fe80::1%eth0', 'febf::1'],
  ['protocol assignments', '192.0.0.1', '192.0.0.192', '2001:1::1', '2001:1ff:ffff::'],
  ['documentation', '192.0.2.1', '198.51.100.7', '203.0.113.255', '2001:db8::1', '3fff::1', '3fff:fff::1'],
  ['6to4 relay', '192.88.99.1'],
  ['benchmarking', '198.18.0.0', '198.19.255.255', '2001:2::1'],
  ['multicast', '224.0.0.1', '239.255.255.255', 'ff02::1', 'ff0e::1'],
  ['reserved', '240.0.0.1', '255.255.255.254', '4000::1', '5f00::1', 'e000::1', '1::1'],
  ['broadcast', '255.255.255.255'],
  ['Teredo', '2001:0:4136:e378:8000:63bf:3fff:fdd2'],
  ['ORCHID', '2001:10::1', '2001:20::1'],
  ['local NAT64', '64:ff9b:1::1', '64:ff9b:1:ffff::8.8.8.8'],
  ['discard-only', '100::1'],
  ['unique-local', 'fc00::1', 'fd12:3456:789a::1', 'fdff:ffff::1'],
  ['site-local', 'fec0::1', 'feff::1'],
  ['NAT64 of loopback', '64:ff9b::127.0.0.1', '64:ff9b::7f00:1'],
  ['NAT64 of private', '64:ff9b::10.0.0.1'],
  ['NAT64 of cloud metadata', '64:ff9b::169.254.169.254'],
  ['6to4 of private', '2002:a00:1::', '2002:c0a8:101::1'],
  ['6to4 of loopback', '2002:7f00:1::'],
  ['IPv4-compatible of loopback', '::127.0.0.1'],
  ['IPv4-compatible of private', '::192.168.1.1'],
  ['IPv4-translated of private', '::ffff:0:10.1.1.1'],
  ['ISATAP of private', '2a00:1450::5efe:a00:1', '2a00:1450::200:5efe:192.168.0.1'],
  ['not an address', '', 'example.com', '127.1', '0x7f.0.0.1', '1.2.3.4.5', ':::'],
];

const PUBLIC = [
  '1.1.1.1',
  '8.8.8.8',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '126.255.255.255',
  '128.0.0.1',
  '169.253.255.255',
  '169.255.0.0',
  '172.15.255.255',
  '172.32.0.0',
  '191.255.255.255',
  '192.0.1.0',
  '192.167.255.255',
  '192.169.0.0',
  '198.17.255.255',
  '198.20.0.0',
  '223.255.255.255',
  '::ffff:8.8.8.8',
  '2001:4860:4860::8888',
  '2606:4700::1111',
  '2a00:1450:4001:81b::200e',
  '64:ff9b::8.8.8.8',
  '2002:808:808::1',
];

describe('specialKind', () => {
  for (const [kind, ...addresses] of REFUSED) {
    for (const address of addresses) {
      it(`calls ${address || 'nothing'} ${kind}`, () => expect(specialKind(address)).toBe(kind));
    }
  }

  for (const address of PUBLIC) {
    it(`finds ${address} public`, () => expect(specialKind(address)).toBeUndefined());
  }

  it('judges every IPv4 address as its v4-mapped and NAT64 spellings', () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        const kind = specialKind(address);
        expect(specialKind(`::ffff:${address}`)).toBe(kind);
        expect(specialKind(`64:ff9b::${address}`)).toBe(kind && `NAT64 of ${kind}`);
      }),
    );
  });

  it('answers for any IPv6 text without throwing, the same for its canonical spelling', () => {
    fc.assert(
      fc.property(fc.ipV6(), (address) => {
        const canonical = new URL(`http://[${address}]/`).hostname.slice(1, -1);
        expect(specialKind(address)).toBe(specialKind(canonical));
      }),
    );
  });
});

describe('spellings in URLs', () => {
  // The URL parser canonicalises these; the guard sees what it makes of them.
  const loopback = ['127.0.0.1', '2130706433', '0x7f000001', '0177.0.0.1', '0x7f.1', '127.1', '127.0.1', '①②⑦.0.0.1'];
  for (const spelling of [...loopback, '017700000001', '127。0。0。1', '%31%32%37.0.0.1', '127.0.0.1.']) {
    it(`sees through http://${spelling}/`, () => {
      const literal = literalAddress(new URL(`http://${spelling}/`).hostname);
      expect(literal && specialKind(literal)).toBe('loopback');
    });
  }

  it('reads literals out of brackets and knows names from addresses', () => {
    expect(literalAddress('[::1]')).toBe('::1');
    expect(literalAddress('example.com')).toBeUndefined();
  });

  it('takes localhost and every name under it for this machine', () => {
    for (const name of ['localhost', 'localhost.', 'a.localhost', 'a.b.localhost.']) {
      expect(isLocalhostName(name)).toBe(true);
    }
    for (const name of ['localhost.example.com', 'notlocalhost', 'localhost.localdomain']) {
      expect(isLocalhostName(name)).toBe(false);
    }
  });
});

describe('createAddressGuard', () => {
  it('refuses special addresses with their kind and passes public ones', () => {
    const guard = createAddressGuard(false);
    expect(guard.refusal('x.example', '10.0.0.1')).toBe('private');
    expect(guard.refusal('x.example', '8.8.8.8')).toBeUndefined();
  });

  it('passes everything when all private addresses are allowed', () => {
    expect(createAddressGuard(true).refusal('x', '169.254.169.254')).toBeUndefined();
  });

  it('allows the listed ranges only, whatever the spelling of the address', () => {
    const guard = createAddressGuard(['10.1.0.0/16', 'fd00::/8', '127.0.0.5']);
    expect(guard.refusal('x', '10.1.2.3')).toBeUndefined();
    expect(guard.refusal('x', '::ffff:10.1.2.3')).toBeUndefined();
    expect(guard.refusal('x', 'fd00::1')).toBeUndefined();
    expect(guard.refusal('x', '127.0.0.5')).toBeUndefined();
    expect(guard.refusal('x', '10.2.0.1')).toBe('private');
    expect(guard.refusal('x', 'fc00::1')).toBe('unique-local');
    expect(guard.refusal('x', '127.0.0.6')).toBe('loopback');
  });

  it.each(['10.0.0.0/33', '::/129', 'ten', '10.0.0.0/', '10.0.0.0/8x', '/8', ''])(
    'rejects %o as a range, by name',
    (range) => {
      expect(() => createAddressGuard([range])).toThrow(
        expect.objectContaining({ code: 'OPTION_INVALID', message: expect.stringContaining('allowPrivateAddresses') }),
      );
    },
  );

  it('lets a seeded address be reached at its own port only', () => {
    const guard = createAddressGuard(false);
    guard.allowHost('127.0.0.5:8080');
    guard.allowHost('[::1]:9000');
    expect(guard.refusal('127.0.0.5:8080', '127.0.0.5')).toBeUndefined();
    expect(guard.refusal('[::1]:9000', '::1')).toBeUndefined();
    expect(guard.refusal('127.0.0.5:6379', '127.0.0.5')).toBe('loopback');
    expect(guard.refusal('127.0.0.5', '127.0.0.5')).toBe('loopback');
    expect(guard.refusal('evil.example:8080', '127.0.0.5')).toBe('loopback');
  });

  it('pins a seeded name to the private addresses of its first resolution', () => {
    const guard = createAddressGuard(false);
    guard.allowHost('intranet.example');
    guard.allowHost('public.example');
    guard.observe('intranet.example', ['10.0.0.7']);
    guard.observe('public.example', ['8.8.8.8']);
    guard.observe('public.example', ['127.0.0.1']);
    guard.observe('intranet.example', ['10.0.0.7', '127.0.0.1']);
    expect(guard.refusal('intranet.example', '10.0.0.7')).toBeUndefined();
    expect(guard.refusal('intranet.example', '127.0.0.1')).toBe('loopback');
    expect(guard.refusal('public.example', '127.0.0.1')).toBe('loopback');
  });

  it('pins a seeded name from its first resolution on, before anybody asks to allow it', () => {
    const guard = createAddressGuard(false);
    guard.seed('rebound.example');
    guard.observe('rebound.example', ['8.8.8.8']);
    guard.observe('rebound.example', ['127.0.0.1']);
    expect(guard.allowHost('rebound.example')).toBe(false);
    guard.observe('rebound.example', ['127.0.0.1']);
    expect(guard.refusal('rebound.example', '127.0.0.1')).toBe('loopback');
    guard.seed('rebound.example');
    guard.observe('rebound.example', ['127.0.0.1']);
    expect(guard.allowHost('rebound.example')).toBe(false);
    expect(guard.refusal('rebound.example', '127.0.0.1')).toBe('loopback');
  });

  it('allows a seeded name only when it is asked to, at the address that was refused', () => {
    const guard = createAddressGuard(false);
    guard.seed('intranet.example');
    guard.observe('intranet.example', ['10.0.0.7']);
    expect(guard.refusal('intranet.example', '10.0.0.7')).toBe('private');
    expect(guard.allowHost('intranet.example')).toBe(true);
    guard.observe('intranet.example', ['127.0.0.1']);
    expect(guard.refusal('intranet.example', '10.0.0.7')).toBeUndefined();
    expect(guard.refusal('intranet.example', '127.0.0.1')).toBe('loopback');
  });

  it('remembers a bounded number of seeded names', () => {
    const guard = createAddressGuard(false);
    for (let n = 0; n < 300_000; n++) {
      guard.seed(`host-${n}.example`);
      guard.observe(`host-${n}.example`, ['8.8.8.8']);
    }
    expect(guard.allowHost('host-299999.example')).toBe(false);
    guard.seed('intranet.example');
    guard.observe('intranet.example', ['10.0.0.7']);
    expect(guard.allowHost('intranet.example')).toBe(true);
  });
});
