// OpenTelemetry against a real collector on loopback: one that answers, one that refuses, one that hangs.
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { telemetrySettings } from '../../src/observe/otlp/settings.js';
import { createTelemetry } from '../../src/observe/otlp/telemetry.js';
import { Simweb } from '../../src/testing/index.js';
import { attributesOf, startCollector } from '../support/collector.js';
import { podsTrial } from '../support/pods-trial.js';
import { redisMissing } from '../support/redis-server.js';
import { MAIN, startNode } from './cli-process.js';

const REQUEST = { url: 'https://u:p4ss@a.test:8443/x/y?token=s3cret#f', method: 'POST', retryCount: 2 };

function telemetryTo(url: string, more: Record<string, string> = {}) {
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: url,
    OTEL_TRACES_SAMPLER_ARG: '1',
    OTEL_EXPORTER_OTLP_TIMEOUT: '500',
    ...more,
  };
  const made = createTelemetry(telemetrySettings(env));
  onTestFinished(() => made.close());
  return made;
}

function visit(made: ReturnType<typeof telemetryTo>): void {
  const trace = made.visit(REQUEST);
  trace.begin('fetch');
  trace.answered(200, 123);
  trace.end('fetch');
  trace.begin('handler');
  trace.end('handler');
  trace.decided('done', undefined);
  trace.settled(true);
}

describe('a trace of a visit', () => {
  it('nests fetch, handler and settling, says where it led, and no secret of its URL', async () => {
    await using collector = await startCollector();
    const made = telemetryTo(`${collector.url}/`, {
      OTEL_SERVICE_NAME: 'my-crawl',
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20abc,x-team=crawl,not a header',
    });
    visit(made);
    await made.flush();
    const [root, ...steps] = collector.spans();
    expect(root).toMatchObject({ name: 'visit', kind: 1 });
    expect(root!.parentSpanId).toBeUndefined();
    expect(steps.map(({ name, kind }) => [name, kind])).toEqual([
      ['POST', 3],
      ['handler', 1],
      ['settle', 1],
    ]);
    for (const step of steps) {
      expect(step).toMatchObject({ traceId: root!.traceId, parentSpanId: root!.spanId });
      expect(BigInt(step.startTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(root!.startTimeUnixNano));
      expect(BigInt(step.endTimeUnixNano)).toBeLessThanOrEqual(BigInt(root!.endTimeUnixNano));
    }
    expect(root!.traceId).toMatch(/^[\da-f]{32}$/);
    expect(root!.spanId).toMatch(/^[\da-f]{16}$/);
    expect(attributesOf(steps[0]!)).toEqual({
      ...{ 'http.request.method': 'POST', 'http.response.status_code': '200', 'http.response.body.size': '123' },
      ...{ 'url.full': 'https://a.test:8443/x/y', 'server.address': 'a.test', 'server.port': '8443' },
    });
    expect(collector.resource()).toMatchObject({ 'service.name': 'my-crawl', 'process.pid': String(process.pid) });
    expect(collector.posted[0]!.headers).toMatchObject({ authorization: 'Bearer abc', 'x-team': 'crawl' });
    for (const { text } of collector.posted) expect(text).not.toMatch(/p4ss|s3cret|token/);
    const metrics = collector.posted.find(({ path }) => path === '/v1/metrics')!.text;
    expect(metrics).toContain('"orcrawl.visit.duration"');
    expect(metrics).toContain('"count":"1"');
  });

  it('marks what failed, and the step that it failed in', async () => {
    await using collector = await startCollector();
    const made = telemetryTo(collector.url);
    const trace = made.visit(REQUEST);
    trace.begin('fetch');
    trace.decided('failed', 'FETCH_TIMEOUT');
    trace.settled(true);
    await made.flush();
    const [root, fetched] = collector.spans();
    expect(root).toMatchObject({ status: { code: 2, message: 'FETCH_TIMEOUT' } });
    expect(attributesOf(root!)).toMatchObject({ 'error.type': 'FETCH_TIMEOUT', 'orcrawl.retry_count': '2' });
    expect(fetched).toMatchObject({ name: 'POST', status: { code: 2 } });
  });

  it('is made of the share of visits that is asked for; all are counted', async () => {
    await using collector = await startCollector();
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_TRACES_SAMPLER_ARG: '0.25' };
    const made = createTelemetry(telemetrySettings(env), { random: sequence([0.1, 0.3, 0.9, 0.24]) });
    onTestFinished(() => made.close());
    for (let i = 0; i < 8; i++) visit(made);
    await made.flush();
    expect(collector.spans().filter(({ name }) => name === 'visit')).toHaveLength(4);
    expect(collector.posted.find(({ path }) => path === '/v1/metrics')!.text).toContain('"count":"8"');
    expect(telemetrySettings({ ...env, OTEL_TRACES_SAMPLER: 'always_off' }).ratio).toBe(0);
    expect(telemetrySettings({ ...env, OTEL_TRACES_SAMPLER_ARG: 'x' }).ratio).toBe(0.01);
  });

  it('goes on in the process that finishes the visit, if whoever fetched the page traced it', async () => {
    await using collector = await startCollector();
    const fetcher = telemetryTo(collector.url);
    // What it would have chosen itself does not count.
    const parser = telemetryTo(collector.url, { OTEL_TRACES_SAMPLER_ARG: '0' });
    const fetching = fetcher.visit(REQUEST);
    fetching.begin('fetch');
    fetching.end('fetch');
    fetching.decided('handed', undefined);
    const { context } = fetching;
    fetching.settled(true);
    const parsing = parser.visit(REQUEST);
    parsing.begin('fetch');
    parsing.follow(context);
    parsing.end('fetch');
    parsing.begin('handler');
    parsing.end('handler');
    parsing.decided('done', undefined);
    parsing.settled(true);
    await fetcher.flush();
    await parser.flush();
    const spans = collector.spans();
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
    const [visit, parse] = ['visit', 'parse'].map((name) => spans.find((one) => one.name === name)!);
    expect(parse!.parentSpanId).toBe(visit!.spanId);
    const below = (parent: string) =>
      spans.filter(({ parentSpanId }) => parentSpanId === parent).map(({ name }) => name);
    expect(below(visit!.spanId)).toEqual(expect.arrayContaining(['POST', 'settle', 'parse']));
    expect(below(parse!.spanId)).toEqual(['take', 'handler', 'settle']);
    for (const context of [undefined, 'nonsense', '00-0-0-01']) {
      const untraced = fetcher.visit(REQUEST);
      untraced.follow(context);
      untraced.decided('done', undefined);
      untraced.settled(true);
    }
    await fetcher.flush();
    expect(collector.spans()).toHaveLength(spans.length);
  });

  it('is dropped and counted when the collector refuses, hangs or is away, and when the queue is full', async () => {
    await using collector = await startCollector();
    collector.status = 503;
    const refused = telemetryTo(collector.url);
    visit(refused);
    await refused.flush();
    expect(refused.dropped).toBe(4);
    collector.status = undefined;
    const hanging = telemetryTo(collector.url);
    for (let i = 0; i < 2_000; i++) visit(hanging);
    // 512 spans are on their way and 2,048 wait: the rest is dropped at once.
    expect(hanging.dropped).toBeGreaterThan(5_000);
    await hanging.flush();
    expect(hanging.dropped).toBe(8_000);
    const away = telemetryTo('http://127.0.0.1:1');
    visit(away);
    await away.flush();
    expect(away.dropped).toBe(4);
  });
});

function sequence(values: readonly number[]): () => number {
  let at = 0;
  return () => values[at++ % values.length]!;
}

describe('a crawl', () => {
  async function crawl(env: Record<string, string>) {
    await using web = await Simweb.start({ hosts: 1, pagesPerHost: 12 });
    const cwd = await mkdtemp(join(tmpdir(), 'orcrawl-otel-'));
    onTestFinished(() => rm(cwd, { recursive: true, force: true }));
    const args = ['crawl', `${web.url(0)}?q=s3cret`, '--allow-private', '--out', 'out', '--delay', '0'];
    return await startNode([MAIN, ...args], { cwd, env }).ended;
  }

  it('loads nothing of it when no endpoint is set, and else sends a trace of each visit with its steps', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'orcrawl-otel-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    /** The coverage of V8 lists every script that a process loaded. */
    const loadedWith = async (env: Record<string, string>) => {
      const coverage = await mkdtemp(join(folder, 'coverage-'));
      const { code, stderr } = await crawl({ ...env, NODE_V8_COVERAGE: coverage });
      expect(code, stderr).toBe(0);
      const texts = await Promise.all((await readdir(coverage)).map((name) => readFile(join(coverage, name), 'utf8')));
      return texts.flatMap((text) => [...text.matchAll(/"url":"[^"]*\/dist\/([^"]+)"/g)].map(([, file]) => file!));
    };
    const isExporter = (file: string) => /telemetry/.test(file);
    const without = await loadedWith({ OTEL_EXPORTER_OTLP_ENDPOINT: '' });
    expect(without.length).toBeGreaterThan(5);
    expect(without.filter(isExporter)).toEqual([]);

    await using collector = await startCollector();
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_TRACES_SAMPLER_ARG: '1' };
    expect((await loadedWith(env)).filter(isExporter)).not.toEqual([]);
    const spans = collector.spans();
    const roots = spans.filter(({ name }) => name === 'visit');
    expect(roots.length).toBeGreaterThanOrEqual(12);
    for (const { spanId, traceId } of roots) {
      const names = spans
        .filter((one) => one.parentSpanId === spanId && one.traceId === traceId)
        .map(({ name }) => name);
      expect(names.sort()).toEqual(['GET', 'handler', 'settle']);
    }
    for (const { text } of collector.posted) expect(text).not.toContain('s3cret');
  });

  it('is traced by the same hook when it is a batch, and when it runs on pods', async () => {
    await using web = await Simweb.start({ hosts: 1, pagesPerHost: 4 });
    await using collector = await startCollector();
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_TRACES_SAMPLER_ARG: '1' };
    const trial = await podsTrial({ seeds: web.seeds() });
    const start = (args: string[], service: string) =>
      startNode([MAIN, ...args], { cwd: trial.folder, env: { ...env, OTEL_SERVICE_NAME: service } }).ended;
    expect(await start(['batch', 'seeds.txt', '--allow-private', '--out', 'batch'], 'batch')).toMatchObject({
      code: 0,
    });
    expect(collector.resource()['service.name']).toBe('batch');
    expect(collector.spans().map(({ name }) => name)).toEqual(expect.arrayContaining(['visit', 'GET', 'settle']));
    const before = collector.spans().length;
    expect(await start(['run', '--config', 'crawl.yaml'], 'pods')).toMatchObject({ code: 0 });
    const spans = collector.spans().slice(before);
    expect(spans.filter(({ name }) => name === 'visit')).toHaveLength(4);
    expect(collector.posted.some(({ text }) => text.includes('"pods"'))).toBe(true);
  });

  it.skipIf(redisMissing)('has one trace per visit on pods whose parsers are other processes', async () => {
    await using web = await Simweb.start({ hosts: 1, pagesPerHost: 4 });
    await using collector = await startCollector();
    const trial = await podsTrial({ redis: 1, seeds: web.seeds(), more: ['parsers_per_pod: 1'] });
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_TRACES_SAMPLER_ARG: '1' };
    const { code, stderr } = await startNode([MAIN, 'run', '--config', 'crawl.yaml'], { cwd: trial.folder, env }).ended;
    expect(code, stderr).toBe(0);
    const spans = collector.spans();
    const parses = spans.filter(({ name }) => name === 'parse');
    expect(parses).toHaveLength(4);
    for (const { traceId, parentSpanId, spanId } of parses) {
      const visit = spans.find((one) => one.spanId === parentSpanId);
      expect(visit).toMatchObject({ name: 'visit', traceId });
      const names = spans.filter((one) => one.parentSpanId === spanId).map(({ name }) => name);
      expect(names.sort()).toEqual(['handler', 'settle', 'take']);
    }
  });

  it('goes on as ever when the collector never answers', async () => {
    await using collector = await startCollector();
    collector.status = undefined;
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_TRACES_SAMPLER_ARG: '1' };
    // Far longer than this test may take: the end of the crawl must not wait for it.
    const { code, stderr } = await crawl({ ...env, OTEL_EXPORTER_OTLP_TIMEOUT: '600000' });
    expect(code, stderr).toBe(0);
    expect(collector.posted.length).toBeGreaterThan(0);
  });
});
