import { describe, expect, it } from 'vitest';
import { createSameContent } from './same-content.js';

const page = (host: string, path: number) => `https://${host}/${path}`;

describe('same content', () => {
  it('refuses a host whose pages differ only in case, blanks and numbers', () => {
    const same = createSameContent({ maxRepeats: 5 });
    const seen = Array.from({ length: 8 }, (_, i) => same.see(page('a.example', i), `Page ${i}\n  NOT   found`));
    expect(seen).toEqual([...Array<undefined>(5).fill(undefined), ...Array<string>(3).fill('SAME_CONTENT')]);
    expect(same.refusal(page('a.example', 99))).toBe('SAME_CONTENT');
    expect(same.refusal(page('b.example', 99))).toBeUndefined();
  });

  it('refuses one that goes round a few texts', () => {
    const same = createSameContent({ maxRepeats: 5 });
    const words = ['one', 'two', 'three'];
    for (let i = 0; i < 20; i++) same.see(page('a.example', i), words[i % 3]!);
    expect(same.refusal(page('a.example', 0))).toBe('SAME_CONTENT');
  });

  it('leaves a host alone that has as many pages of its own', () => {
    const same = createSameContent({ maxRepeats: 5 });
    for (let i = 0; i < 200; i++) {
      const own = `story ${String.fromCharCode(97 + (i % 26), 97 + (Math.floor(i / 26) % 26))}`;
      expect(same.see(page('a.example', i), i % 2 ? 'not found' : own)).toBeUndefined();
    }
  });

  it('takes no notice of pages without text', () => {
    const same = createSameContent({ maxRepeats: 1 });
    for (let i = 0; i < 10; i++) expect(same.see(page('a.example', i), ' \n ')).toBeUndefined();
  });

  it('keeps the hosts last seen', () => {
    const same = createSameContent({ maxRepeats: 1, maxHosts: 2 });
    for (const host of ['a', 'b', 'c']) for (let i = 0; i < 2; i++) same.see(page(host, i), 'text');
    expect(['a', 'b', 'c'].map((host) => same.refusal(page(host, 0)))).toEqual([
      undefined,
      'SAME_CONTENT',
      'SAME_CONTENT',
    ]);
  });
});
