import { describe, expect, it } from 'vitest';
import { withoutSessionId } from './session-ids.js';

describe('addresses without the id of a visit', () => {
  const id = '0123456789abcdef0123456789abcdef';
  it.each([
    [`https://a.example/viewtopic.php?t=5&sid=${id}#p7`, 'https://a.example/viewtopic.php?t=5#p7'],
    [`https://a.example/index.php?sid=${id}`, 'https://a.example/index.php'],
    ['https://a.example/list;jsessionid=1A530637289A03B0?page=2', 'https://a.example/list?page=2'],
    ['https://a.example/a?x=1&PHPSESSID=r2t5uvjq435r4q7ib3vtdjq120', 'https://a.example/a?x=1'],
  ])('%s', (from, to) => {
    expect(withoutSessionId(from)).toBe(to);
  });

  it('leaves every other address as it is', () => {
    for (const url of [
      'https://a.example/?sid=12345',
      'https://a.example/?s=8f3a2c1d',
      `https://a.example/residence?inside=${id}`,
      `https://a.example/#sid=${id}`,
    ])
      expect(withoutSessionId(url)).toBe(url);
  });
});
