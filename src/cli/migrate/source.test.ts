import { describe, expect, it } from 'vitest';
import { rewritePackage, rewriteSource } from './source.js';

describe('a source file on its way from Crawlee', () => {
  it('has its imports changed in every form they have, and nothing else', () => {
    const before = [
      `import { CheerioCrawler } from 'crawlee';`,
      `import type { Log } from "@crawlee/core";`,
      `import 'crawlee';`,
      `const { sleep } = require('@crawlee/utils');`,
      `const later = await import('@crawlee/playwright');`,
      `declare module 'crawlee' {}`,
      `vi.mock('crawlee');`,
      `export * from 'crawlee';`,
      `const text = 'crawlee is a name';`,
      `import other from 'crawlee-extra';`,
    ].join('\n');
    const { text, imports, findings } = rewriteSource(before);
    expect(imports.map(({ line }) => line)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect(text.split('\n').slice(0, 8).join()).not.toMatch(/['"]@?crawlee/);
    expect(text.split('\n')[1]).toBe(`import type { Log } from "orcrawl/crawlee";`);
    expect(text.split('\n').slice(8)).toEqual(before.split('\n').slice(8));
    expect(findings).toEqual([]);
  });

  it('is searched for what is not supported, by line', () => {
    const { findings } = rewriteSource(
      `import { PuppeteerCrawler } from 'crawlee';\nimport puppeteer from 'puppeteer';\n\nawait enqueueLinks({ pseudoUrls: [] });\nconst ignoreSslErrors = 1;\n`,
    );
    expect(findings.map(({ line, name, kind }) => `${line} ${name} ${kind}`)).toEqual([
      '1 PuppeteerCrawler unsupported',
      '2 puppeteer unsupported',
      '4 pseudoUrls unsupported',
      '5 ignoreSslErrors changed',
    ]);
  });

  it('is left alone when it has nothing to do with Crawlee', () => {
    const text = `const pseudoUrls = []; // not Crawlee's`;
    expect(rewriteSource(text)).toEqual({ text, imports: [], findings: [] });
  });

  it('takes time in proportion to its length', () => {
    const text = `import ${' '.repeat(200_000)}'crawlee'; from ${' '.repeat(200_000)} module ${'require('.repeat(50_000)}`;
    const started = performance.now();
    rewriteSource(text);
    expect(performance.now() - started).toBeLessThan(20_000);
  });
});

describe('package.json on its way from Crawlee', () => {
  it('names orcrawl where Crawlee was, and keeps the rest and its layout', () => {
    const before = `{\n    "name": "mine",\n    "dependencies": {\n        "crawlee": "^3.0.0",\n        "@crawlee/core": "^3.0.0",\n        "playwright": "1.56.1",\n        "zod": "4"\n    }\n}\n`;
    const after = rewritePackage(before, '^0.2.0')!;
    expect(JSON.parse(after)).toEqual({
      name: 'mine',
      dependencies: { playwright: '1.56.1', zod: '4', orcrawl: '^0.2.0', 'playwright-core': '1.56.1' },
    });
    expect(after).toContain('\n    "name"');
  });

  it('is left alone when it names no Crawlee', () => {
    expect(rewritePackage(`{ "dependencies": { "zod": "4" } }`, '^0.2.0')).toBeUndefined();
  });
});
