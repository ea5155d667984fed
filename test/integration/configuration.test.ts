// Settings from the real environment and from files in the working directory.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Configuration } from '../../src/configuration.js';
import { HttpCrawler, WebCrawler } from '../../src/index.js';

describe('Configuration with files and environment', () => {
  const before = process.cwd();
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'orcrawl-config-'));
    process.chdir(folder);
  });
  afterEach(() => {
    process.chdir(before);
    rmSync(folder, { recursive: true });
    for (const name of Object.keys(process.env)) if (/^(?:ORCRAWL|CRAWLEE)_/.test(name)) delete process.env[name];
  });

  it('takes environment over constructor over orcrawl.json over crawlee.json over defaults', () => {
    writeFileSync('crawlee.json', '{"inputKey":"C","defaultDatasetId":"C","memoryMbytes":1,"headless":false}');
    writeFileSync('orcrawl.json', '{"inputKey":"O","defaultDatasetId":"O","memoryMbytes":2}');
    process.env.CRAWLEE_INPUT_KEY = 'E';
    const config = new Configuration({ inputKey: 'N', defaultDatasetId: 'N' });
    expect(config.get('inputKey')).toBe('E');
    expect(config.get('defaultDatasetId')).toBe('N');
    expect(config.get('memoryMbytes')).toBe(2);
    expect(config.get('headless')).toBe(false);
    expect(config.get('purgeOnStart')).toBe('finished');
    process.env.ORCRAWL_INPUT_KEY = 'OURS';
    expect(config.get('inputKey')).toBe('OURS');
  });

  it('does not start a crawl with a log level that is none', async () => {
    process.env.ORCRAWL_LOG_LEVEL = 'FOO';
    const config = new Configuration({ persistStorage: false });
    const line = /ORCRAWL_LOG_LEVEL must be .*, got "FOO"/;
    expect(() => new HttpCrawler({}, config)).toThrow(line);
    await expect(WebCrawler.open()).rejects.toThrow(line);
  });

  it('names a broken file, and what is wrong in a readable one', () => {
    writeFileSync('orcrawl.json', '{ "inputKey": ');
    expect(() => new Configuration().get('inputKey')).toThrow(/orcrawl\.json is not valid JSON/);
    writeFileSync('orcrawl.json', '{ "memoryMbytes": "much", "inputkey": "x" }');
    expect(() => new Configuration().get('inputKey')).toThrow(/orcrawl\.json option "memoryMbytes" must be a number/);
    expect(() => new Configuration().get('inputKey')).toThrow(/did you mean "inputKey"/);
    writeFileSync('orcrawl.json', '[]');
    expect(() => new Configuration().get('inputKey')).toThrow(/orcrawl\.json options must be an object/);
  });

  it('passes over settings of other programs in crawlee.json', () => {
    writeFileSync('crawlee.json', '{ "token": "x", "inputKey": "C" }');
    expect(new Configuration().get('inputKey')).toBe('C');
  });

  it('puts the storage folder where the environment says, else the constructor, else ./storage', () => {
    const here = process.cwd();
    expect(new Configuration().localDataDirectory()).toBe(join(here, 'storage'));
    const config = new Configuration({ storageClientOptions: { localDataDirectory: 'data' } });
    expect(config.localDataDirectory()).toBe(join(here, 'data'));
    process.env.CRAWLEE_STORAGE_DIR = '/elsewhere';
    expect(config.localDataDirectory()).toBe('/elsewhere');
    expect(config.get('storageClientOptions')).toEqual({ localDataDirectory: '/elsewhere' });
  });
});
