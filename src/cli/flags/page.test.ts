import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { actionsOf, engineOf, type RunFlags, runConfigOf, webCrawlerOptionsOf } from './page.js';
import { addPageFlags, type PageCommand, sharedFlagNames } from './table.js';

function flagsOf(...args: string[]): RunFlags {
  const command = addPageFlags(new Command(), 'scrape', {})
    .exitOverride()
    .configureOutput({ outputError: () => undefined });
  return command.parse(args, { from: 'user' }).opts();
}

describe('the flags that crawl, batch and scrape share', () => {
  it('are one even set', () => {
    const even =
      '--browser --auto --wait-until --wait-for --js --header --selector --schema --proxy --insecure --timeout ' +
      '--screenshot --user-agent --cookies --retries';
    for (const name of ['crawl', 'batch', 'scrape'] satisfies PageCommand[]) {
      expect(sharedFlagNames(name)).toEqual(expect.arrayContaining(even.split(' ')));
    }
  });

  it('change nothing when none of them is given', () => {
    expect(webCrawlerOptionsOf(flagsOf())).toEqual({});
    expect(runConfigOf(flagsOf())).toEqual({});
  });

  it('refuse what contradicts itself', () => {
    expect(() => flagsOf('--allow-private', '--refuse-private')).toThrow(/'--refuse-private'/);
  });

  it('show the browser with --headed, and hide it otherwise', () => {
    expect(webCrawlerOptionsOf(flagsOf('--headed'))).toEqual({ engine: 'browser', browser: { headless: false } });
    expect(webCrawlerOptionsOf(flagsOf('--browser'))).toEqual({ engine: 'browser', browser: {} });
  });

  it('use it only where needed with --auto, unless --browser says always', () => {
    expect(engineOf(flagsOf('--auto', '--wait-for', 'css:a'))).toBe('auto');
    expect(engineOf(flagsOf('--auto', '--browser'))).toBe('browser');
  });

  it.each([
    ['--session', 's'],
    ['--wait-for', 'css:a'],
    ['--wait-until', 'networkidle'],
    ['--js', '1'],
    ['--screenshot', 'a.png'],
    ['--pdf', 'a.pdf'],
  ])('turn it on with %s, which no page without one could do', (flag, value) => {
    expect(webCrawlerOptionsOf(flagsOf(flag, value)).engine).toBe('browser');
    expect(Object.keys(runConfigOf(flagsOf(flag, value)))).toHaveLength(1);
  });

  it('run scripts and waits in the order in which they are typed', () => {
    const typed = ['--wait-for', 'css:#a', '--js', 'a.click()', '--wait-for', 'js:done', '--js', 'b()'];
    const steps = [{ waitFor: 'css:#a' }, { js: 'a.click()' }, { waitFor: 'js:done' }, { js: 'b()' }];
    expect(actionsOf(flagsOf(...typed))).toEqual({ steps });
  });

  it.each([
    [['--wait-for', 'main'], 'css:SELECTOR or js:EXPRESSION'],
    [['--timeout', '0'], 'above 0'],
    [['--wait-until', 'never'], 'networkidle'],
  ])('refuse %j', (args, message) => {
    expect(() => flagsOf(...args)).toThrow(message);
  });

  it('refuse flags of the cache without it, and a profile that is not there', () => {
    expect(() => runConfigOf(flagsOf('--cache-ttl', '5'))).toThrow('--cache-ttl has no effect without --cache');
    expect(() => runConfigOf(flagsOf('--validate'))).toThrow('--validate has no effect');
    expect(runConfigOf(flagsOf('--cache', 'enabled', '--cache-ttl', '5'))).toMatchObject({ cacheTtlSecs: 5 });
    expect(() => webCrawlerOptionsOf(flagsOf('--user-data-dir', 'no-such-profile'))).toThrow('profile create');
  });

  it('read cookies before anything is fetched, and name a file that has none', () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'orcrawl-flags-'));
    const file = path.join(folder, 'cookies.txt');
    writeFileSync(file, 'example.com\tFALSE\t/\tFALSE\t0\ta\t1\n');
    expect(webCrawlerOptionsOf(flagsOf('--cookies', file)).cookies).toMatchObject([{ name: 'a', value: '1' }]);
    expect(() => webCrawlerOptionsOf(flagsOf('--cookies', path.join(folder, 'none')))).toThrow('file not found');
    writeFileSync(file, 'nothing of the kind');
    expect(() => webCrawlerOptionsOf(flagsOf('--cookies', file))).toThrow('line 1');
  });

  it('take fields without an engine as CSS', () => {
    const fields = { title: { selector: 'h1' } };
    const { extract } = runConfigOf(flagsOf('--schema', JSON.stringify({ fields })));
    expect(extract).toEqual({ engine: 'css', fields });
    expect(() => runConfigOf(flagsOf('--schema', 'no-such-file.json'))).toThrow('--schema: file not found');
  });
});
