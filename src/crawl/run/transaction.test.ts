import { describe, expect, it } from 'vitest';
import { entryOf } from '../../frontier/entry.js';
import { Request } from '../../request/request.js';
import { createTransaction } from './transaction.js';

const link = (url: string) => entryOf(new Request({ url }));

describe('the transaction of a visit', () => {
  it('tells of links that will not be queued: those it forgets, and those that come too late', () => {
    const dropped: string[] = [];
    const transaction = createTransaction('https://a.example/', (url) => dropped.push(url));
    transaction.addLink(link('https://a.example/1'));
    transaction.clear();
    expect(dropped).toEqual(['https://a.example/1']);
    transaction.addLink(link('https://a.example/2'));
    transaction.close();
    expect(dropped).toHaveLength(1);
    expect(() => transaction.addLink(link('https://a.example/3'))).toThrow(/has ended/);
    expect(dropped).toEqual(['https://a.example/1', 'https://a.example/3']);
    expect(transaction.links).toHaveLength(1);
  });
});
