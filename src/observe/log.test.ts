// The log as scripts use it, and lines that content cannot forge.
import { afterEach, describe, expect, it } from 'vitest';
import { Configuration } from '../configuration.js';
import { Log, LogLevel } from './log.js';
import { createJsonWriter, createTextWriter, escapeControls, safeData } from './log-lines.js';
import type { LogEntry } from './log-lines.js';

function textLog(colours = false) {
  const out: string[] = [];
  const err: string[] = [];
  const logger = createTextWriter(
    (line, problem) => (problem ? err : out).push(line),
    () => colours,
  );
  return { log: new Log({ logger, level: LogLevel.INFO }), out, err };
}

afterEach(() => Configuration.resetGlobalState());

describe('Log', () => {
  it('writes level, prefix, message and data on one line', () => {
    const { log, out } = textLog();
    log.child({ prefix: 'CheerioCrawler' }).info('hello', { a: 1 });
    log.info('bare');
    expect(out).toEqual(['INFO  CheerioCrawler: hello {"a":1}\n', 'INFO  bare\n']);
  });

  it('sends warnings and errors to the other stream', () => {
    const { log, out, err } = textLog();
    log.warning('w');
    log.warn('w2');
    log.error('e');
    log.softFail('s');
    expect(err).toEqual(['WARN  w\n', 'WARN  w2\n', 'ERROR e\n']);
    expect(out).toEqual(['SFAIL s\n']);
  });

  it('writes nothing above its level, and children follow their parent until they have their own', () => {
    const { log, out } = textLog();
    const child = log.child({ prefix: 'C' });
    child.debug('no');
    log.setLevel(log.LEVELS.PERF);
    child.debug('yes');
    child.perf('fast');
    child.setLevel(LogLevel.OFF);
    child.error('silent');
    expect(out).toEqual(['DEBUG C: yes\n', 'PERF  C: fast\n']);
    expect([log.getLevel(), child.getLevel()]).toEqual([LogLevel.PERF, LogLevel.OFF]);
  });

  it('joins prefixes and data of parents', () => {
    const { log, out } = textLog();
    log.setOptions({ prefix: 'A', data: { run: 1 } });
    log.child({ prefix: 'B', data: { page: 2 }, suffix: '!' }).info('m', { n: 3 });
    expect(out).toEqual(['INFO  A:B: m ! {"run":1,"page":2,"n":3}\n']);
    expect(log.child({ prefix: 'B' }).getOptions()).toMatchObject({ prefix: 'A:B', level: LogLevel.INFO });
  });

  it('warns once about the same thing, children included', () => {
    const { log, err } = textLog();
    log.deprecated('old');
    log.child({ prefix: 'C' }).deprecated('old');
    log.warningOnce('old');
    log.warningOnce('other');
    expect(err).toHaveLength(2);
  });

  it('shows an exception with its stack and causes', () => {
    const { log, err } = textLog();
    log.exception(new Error('outer', { cause: new TypeError('inner\nline') }), 'it failed', { n: 1 });
    log.exception('just text', 'odd');
    expect(err[0]).toMatch(/^ERROR it failed {"n":1}\n {2}Error: outer\n {6}at .*\n/);
    expect(err[0]).toContain('  caused by TypeError: inner\\nline\n');
    expect(err[1]).toBe('ERROR odd\n  just text\n');
  });

  it('lets content neither begin a line nor drive the terminal', () => {
    const { log, out } = textLog();
    log.info('a\nERROR forged\r\u001b[2J\u009b\u2028\u202e', { '\u001b]0;x\u0007': '\u009b31m\n' });
    expect(out).toHaveLength(1);
    expect(out[0]?.slice(0, -1)).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u202e]/);
    expect(escapeControls('é\t漢\u007f')).toBe('é\\t漢\\u007f');
  });

  it('colours only when asked', () => {
    const { log, out } = textLog(true);
    log.info('m');
    expect(out[0]).toBe('\u001b[32mINFO \u001b[39m m\n');
  });

  it('survives data that cannot be written, and a writer that throws', () => {
    const { log, out } = textLog();
    const circle: Record<string, unknown> = { big: 1n, f: () => 1, d: new Date(NaN), b: Buffer.alloc(3) };
    circle.self = circle;
    log.info('odd', circle);
    expect(out[0]).toContain('"big":"1","f":"[function]","d":"Invalid Date","b":"[3 bytes]"');
    expect(safeData('x'.repeat(5_000))).toHaveLength(2_001);
    const broken = {
      write: (_entry: LogEntry) => {
        throw new Error('disk gone');
      },
    };
    expect(() => new Log({ logger: broken }).error('m')).not.toThrow();
  });

  it('writes JSON lines through pino', () => {
    const lines: [string, boolean][] = [];
    const log = new Log({
      logger: createJsonWriter((line, problem) => lines.push([line, problem])),
      level: LogLevel.PERF,
    });
    log.child({ prefix: 'C' }).info('two\nlines', { a: 1, msg: 'forged', level: 'x' });
    log.exception(new Error('boo'), 'failed');
    const [info, error] = lines.map(([line]) => JSON.parse(line) as Record<string, unknown>);
    expect(info).toMatchObject({ level: 'INFO', msg: 'C: two\nlines', a: 1 });
    expect(Object.keys(info as object).sort()).toEqual(['a', 'level', 'msg', 'time']);
    expect(error).toMatchObject({ level: 'ERROR', msg: 'failed', exception: { name: 'Error', message: 'boo' } });
    expect(lines.map(([line, problem]) => [line.indexOf('\n') === line.length - 1, problem])).toEqual([
      [true, false],
      [true, true],
    ]);
  });
});
