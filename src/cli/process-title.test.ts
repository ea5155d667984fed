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

  it('has no password of a proxy', () => {
    expect(harmlessTitle(['crawl', 'x.test', '--proxy', 'a:pw@p:1', '--proxy=http://a:pw@p:1'])).toBe(
      'orcrawl crawl x.test --proxy …@p:1 --proxy=…@p:1',
    );
  });

  it('has no password of a store', () => {
    expect(harmlessTitle(['run', '--redis-password', 'secret', '--redis-password=secret'])).toBe(
      'orcrawl run --redis-password … --redis-password=…',
    );
    expect(harmlessTitle(['serve', '--redis', 'unix:///s.sock?password=secret&db=1'])).toBe(
      'orcrawl serve --redis unix:///s.sock?password=…&db=1',
    );
  });

  it('has no path and no query of an address that may be the secret itself', () => {
    expect(
      harmlessTitle(['watch', 'x.test', '--webhook', 'https://a:pw@hooks.test:8443/services/secret?key=secret']),
    ).toBe('orcrawl watch x.test --webhook https://hooks.test:8443/…');
    expect(harmlessTitle(['watch', 'x.test', '--webhook=https://hooks.test?key=secret'])).toBe(
      'orcrawl watch x.test --webhook=https://hooks.test/…',
    );
    expect(harmlessTitle(['serve', '--llm-url=http://llm.test/v1?key=secret', '--searxng', 'secret'])).toBe(
      'orcrawl serve --llm-url=http://llm.test/… --searxng …',
    );
    expect(harmlessTitle(['serve', '--searxng', 'http://127.0.0.1:8888/'])).toBeUndefined();
  });

  it('stays when there is nothing to hide', () => {
    expect(harmlessTitle(['crawl', 'https://x.test/@a', '--depth', '1'])).toBeUndefined();
  });
});
