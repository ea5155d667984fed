// Canary secrets in files of cookies, in the environment and in addresses of the command line: they reach whom they are
// for, and are on no other origin, in no file of others, in no message and not in the list of processes.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { MAIN, startNode } from '../integration/cli-process.js';
import { orcrawlHere } from '../support/cli-here.js';
import { startCollector } from '../support/collector.js';
import { startWeb, watched } from './canary-run.js';
import { canariesIn, canaryFiles, leaks } from './canary-web.js';

const COOKIES = ['canary-cookiefile', 'canary-session'];
const netscape = '# Netscape HTTP Cookie File\n127.0.0.1\tFALSE\t/\tTRUE\t0\town\tcanary-cookiefile\n';
const json = JSON.stringify([{ name: 'own', value: 'canary-cookiefile', domain: '127.0.0.1', secure: true }]);

describe('canary secrets', () => {
  it.each([
    ['cookies.txt', netscape],
    ['cookies.json', json],
  ])('of %s and of telemetry reach home and the collector, and nothing else', async (name, text) => {
    const { web, cwd, env } = await startWeb();
    await using collector = await startCollector();
    const file = join('..', name);
    writeFileSync(join(cwd, file), text, { mode: 0o600 });
    const telemetry = {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20canary-telemetry',
      OTEL_TRACES_SAMPLER_ARG: '1',
    };
    const cookies = ['--cookies', file, '--allow-private'];
    const rest = ['--strategy', 'all', '--delay', '0', '--retries', '0', '--verbose', '--links', '--explain-skips'];
    const crawl = ['crawl', `${web.home}/`, ...cookies, ...rest, '--max-pages', '60', '--out', 'out'];
    const { shown, listed } = await watched(startNode([MAIN, ...crawl], { cwd, env: { ...env, ...telemetry } }));
    const scrape = await startNode([MAIN, 'scrape', `${web.home}/moved/302/1`, ...cookies], { cwd, env }).ended;
    writeFileSync(join(cwd, '..', 'urls.txt'), `${web.home}/\n${web.home}/moved/307/1\n${web.home}/broken\n`);
    const list = ['batch', '../urls.txt', ...cookies, '--out', 'results.jsonl', '--monitor', 'detailed'];
    const batch = await startNode([MAIN, ...list], { cwd, env }).ended;

    expect(canariesIn(web.heardAtHome.join('\n'))).toEqual(['canary-cookiefile']);
    expect(web.heardElsewhere.length).toBeGreaterThan(10);
    expect(leaks(web, COOKIES)).toEqual([]);
    const told = [shown, scrape.stdout, scrape.stderr, batch.stdout, batch.stderr].join('\n');
    expect(canariesIn(told)).toEqual([]);
    expect(listed).toEqual([]);
    // Sessions are kept for a resumed crawl, for their owner alone.
    const others = canaryFiles(cwd).filter(({ path, mode }) => !path.includes('SESSION') || mode !== '600');
    expect(others).toEqual([]);
    expect(collector.posted.length).toBeGreaterThan(0);
    for (const { headers, text: body } of collector.posted) {
      expect(headers.authorization).toBe('Bearer canary-telemetry');
      expect(canariesIn(body)).toEqual([]);
    }
  });

  it.each([
    ['a header', 'sid=canary-cookiefile; own=canary-cookie'],
    ['a bare token', 'canary-cookiefile'],
    ['too few fields', '127.0.0.1\tFALSE\tcanary-cookiefile'],
    ['broken JSON', '[{"name":"own","value":canary-cookiefile}]'],
    ['JSON of another shape', '[{"value":"canary-cookiefile"}]'],
  ])('of an invalid file of cookies are not in the message: %s', async (_, text) => {
    const { web, cwd, env } = await startWeb();
    writeFileSync(join(cwd, '..', 'cookies'), text);
    for (const command of ['crawl', 'scrape']) {
      const args = [command, `${web.home}/`, '--cookies', '../cookies', '--allow-private'];
      const { code, stdout, stderr } = await orcrawlHere(args, { cwd, env });
      expect(code).not.toBe(0);
      expect(stderr).toContain('cookie');
      expect(canariesIn(stdout + stderr)).toEqual([]);
    }
    expect(web.heardAtHome).toEqual([]);
    expect(canaryFiles(cwd)).toEqual([]);
  });

  it('of a webhook of watch reach the webhook and nothing else, also when it refuses or is not there', async () => {
    const { web, cwd, env } = await startWeb();
    const login = web.home.replace('://', '://alice:canary-urlpassword@');
    const secret = 'canary-hookpath?key=canary-hookquery';
    const hooks = [
      `${login}/hook/${secret}`,
      // Answers with 500, moves to a stranger, and does not listen at all.
      `${login}/broken?key=canary-hookquery`,
      `${login}/moved/307/1?key=canary-hookquery`,
      `https://alice:canary-urlpassword@127.0.0.1:1/${secret}`,
    ];
    const known = ['canary-hookpath', 'canary-hookquery', 'canary-urlpassword'];
    for (const [index, hook] of hooks.entries()) {
      mkdirSync(join(cwd, String(index)));
      const pace = ['--budget', '36000/h', '--delay', '0', '--for', '4', '--out', 'out', '--no-hints'];
      const args = ['watch', `${web.strangers[0]}/`, '--webhook', hook, ...pace];
      const { shown, listed } = await watched(startNode([MAIN, ...args], { cwd: join(cwd, String(index)), env }));
      expect(canariesIn(shown)).toEqual([]);
      expect(listed).toEqual([]);
      // The pages of the stranger changed, and the webhook that took them was told of it.
      expect(shown).toContain('"change":"new"');
      if (index === 0) expect(canariesIn(web.heardAtHome.join('\n'))).toEqual(known);
      else expect(shown).toContain('The webhook did not accept a change');
    }
    expect(leaks(web)).toEqual([]);
    expect(canaryFiles(cwd)).toEqual([]);
  });

  it('of the address and key of a model reach the model and nothing else', async () => {
    const { web, cwd, env } = await startWeb();
    const model = ['--llm-url', `${web.home}/v1?key=canary-modelquery`, '--llm-model', 'm', '--llm-key-env', 'MODEL'];
    const args = ['scrape', `${web.strangers[0]}/`, '--allow-private', '--prompt', 'the price', ...model];
    const started = startNode([MAIN, ...args, '--format', 'json'], { cwd, env: { ...env, MODEL: 'canary-modelkey' } });
    const { shown, listed } = await watched(started);
    expect(canariesIn(web.heardAtHome.join('\n'))).toEqual(['canary-modelkey', 'canary-modelquery']);
    expect(leaks(web)).toEqual([]);
    expect(canariesIn(shown)).toEqual([]);
    expect(listed).toEqual([]);
    expect(canaryFiles(cwd)).toEqual([]);
  });
});
