import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { contentHash, homeDirectory } from '../store/content/names.js';
import { coresOfPod, parsePodRange, podOfDomain, podOfUrl, wantsAssignmentChecks } from './topology.js';

const firstUint32 = (algorithm: string, text: string): number =>
  createHash(algorithm).update(text).digest().readUInt32BE(0);

it('reads CRAWLER_DEBUG_POD_ASSIGNMENT in any case', () => {
  expect(['true', 'True', ' TRUE ', '1', 'yes'].map(wantsAssignmentChecks)).toEqual([true, true, true, true, true]);
  expect(['false', '', '0', 'no'].map(wantsAssignmentChecks)).toEqual([false, false, false, false]);
});

describe('the pod of a domain', () => {
  it('is the first 32 bits of its MD5 modulo the pods', () => {
    // echo -n example.com | md5sum: 5ababd603b22780302dd8d83498e5172
    expect(podOfDomain('example.com', 16)).toBe(0x5ababd60 % 16);
    expect(podOfDomain('example.com', 7)).toBe(0x5ababd60 % 7);
    fc.assert(
      fc.property(fc.domain(), fc.integer({ min: 1, max: 64 }), (domain, pods) => {
        expect(podOfDomain(domain, pods)).toBe(firstUint32('md5', domain) % pods);
      }),
    );
  });

  it('is the same for every host and port of a registrable domain', () => {
    const pod = podOfDomain('example.co.uk', 64);
    expect(podOfUrl('https://example.co.uk/', 64)).toBe(pod);
    expect(podOfUrl('http://a.b.example.co.uk:8080/x?y#z', 64)).toBe(pod);
    expect(podOfUrl('https://WWW.Example.CO.UK', 64)).toBe(pod);
  });

  it('counts sites on a private suffix to the domain of the ICANN section', () => {
    expect(podOfUrl('https://someone.github.io/', 64)).toBe(podOfDomain('github.io', 64));
  });

  it('takes an IP address in canonical form, without its port', () => {
    const pod = podOfDomain('127.0.0.1', 64);
    expect(podOfUrl('http://127.0.0.1:8080/', 64)).toBe(pod);
    expect(podOfUrl('http://0x7f.1/', 64)).toBe(pod);
    expect(podOfUrl('http://[0:0::1]:80/', 64)).toBe(podOfDomain('[::1]', 64));
  });
});

describe('the data directory of a page', () => {
  it('is the first 32 bits of the SHA-256 of its unique key modulo the directories', () => {
    fc.assert(
      fc.property(fc.string(), fc.integer({ min: 1, max: 12 }), (url, dirs) => {
        expect(homeDirectory(contentHash(url), dirs)).toBe(firstUint32('sha256', url) % dirs);
      }),
    );
  });
});

describe('a list of pods', () => {
  it('may name single pods and ranges, in any order, with repeats', () => {
    expect(parsePodRange('0-3,5', 16)).toEqual([0, 1, 2, 3, 5]);
    expect(parsePodRange(' 7, 2 - 3 ,3', 16)).toEqual([2, 3, 7]);
    expect(parsePodRange('0', 1)).toEqual([0]);
  });

  it.each([
    ['', /invalid list of pods/],
    ['1,', /invalid list of pods/],
    ['-1', /invalid list of pods/],
    ['a', /invalid list of pods/],
    ['3-1', /invalid range 3-1/],
    ['0-16', /pod 16 does not exist: the last is 15/],
  ])('is refused with a reason when it says "%s"', (text, reason) => {
    expect(() => parsePodRange(text, 16)).toThrow(reason);
  });
});

describe('the cores of a pod', () => {
  it('are two thirds for fetchers and the rest for parsers', () => {
    expect(coresOfPod(0, 12, 2)).toEqual({ fetchers: [0, 1, 2, 3, 4, 5, 6, 7], parsers: [8, 9, 10, 11] });
    expect(coresOfPod(2, 3, 1)).toEqual({ fetchers: [6, 7], parsers: [8] });
  });

  it('are all for fetchers where nobody parses apart, and shared where there is one', () => {
    expect(coresOfPod(1, 4, 0)).toEqual({ fetchers: [4, 5, 6, 7], parsers: [] });
    expect(coresOfPod(1, 1, 2)).toEqual({ fetchers: [1], parsers: [1] });
    expect(coresOfPod(0, 2, 1)).toEqual({ fetchers: [0], parsers: [1] });
  });
});
