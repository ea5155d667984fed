import { describe, expect, it } from 'vitest';
import { harmlessTitle } from './process-title.js';

describe('the title of the process', () => {
  it('has the command line without header values and passwords', () => {
    expect(
      harmlessTitle(['crawl', 'https://a:pw@x.test/', '-H', 'X-Key: secret', '--header', 'Cookie: a=secret']),
    ).toBe('orcrawl crawl https://x.test/ -H X-Key:… --header Cookie:…');
    expect(harmlessTitle(['scrape', 'x.test', '-HX-Key: secret', '--header=A:secret'])).toBe(
      'orcrawl scrape x.test -HX-Key:… --header=A:…',
    );
    expect(harmlessTitle(['crawl', '-H', 'secret without a colon'])).toBe('orcrawl crawl -H …');
  });

  it('stays when there is nothing to hide', () => {
    expect(harmlessTitle(['crawl', 'https://x.test/@a', '--depth', '1'])).toBeUndefined();
  });
});
