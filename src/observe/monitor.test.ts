// What a monitor writes, on a terminal and elsewhere.
import { describe, expect, it } from 'vitest';
import { CrawlerMonitor, DisplayMode } from './monitor.js';

function screen(isTTY: boolean) {
  let text = '';
  return { isTTY, columns: 60, write: (more: string) => void (text += more), text: () => text };
}

function play(monitor: CrawlerMonitor): () => void {
  const end = monitor.begin();
  for (let n = 0; n < 4; n++) monitor.queued();
  monitor.started('1', 'https://a.example/1');
  monitor.started('2', 'https://a.example/\u001b[31mred');
  monitor.ended('1', { success: true, errorCode: undefined, statusCode: 200, bytes: 1200 });
  monitor.ended('2', { success: false, errorCode: 'HTTP_STATUS', statusCode: 500, bytes: 0 });
  monitor.started('3', 'https://a.example/3');
  return end;
}

describe('a monitor', () => {
  it('writes a plain line per URL and a summary where there is no terminal', () => {
    const output = screen(false);
    const end = play(new CrawlerMonitor({ output }, { clock: () => 0 }));
    end();
    const lines = output.text().trimEnd().split('\n');
    expect(lines[0]).toMatch(/^done 200 +0\.0 s +1\.2 kB  https:\/\/a\.example\/1$/);
    expect(lines[1]).toMatch(/^failed HTTP_STATUS .*red$/);
    expect(lines[2]).toBe('1 done · 1 failed · 1 running · 1 waiting · 0.0/s · 1.2 kB · 0.0 s');
    expect(output.text()).not.toContain('\u001b');
  });

  it('writes only summaries when aggregated', () => {
    const output = screen(false);
    const monitor = new CrawlerMonitor({ output, displayMode: DisplayMode.AGGREGATED }, { clock: () => 0 });
    const end = play(monitor);
    monitor.memory(61.4, true);
    monitor.show();
    end();
    const lines = output.text().trimEnd().split('\n');
    expect(lines).toHaveLength(2);
    expect(lines[0]).toContain('memory 61 %, paused');
  });

  it('redraws a table of at most so many rows on a terminal, cut to its width', () => {
    const output = screen(true);
    const monitor = new CrawlerMonitor({ output, maxVisibleRows: 2 }, { clock: () => 0 });
    const end = play(monitor);
    monitor.show();
    monitor.show();
    end();
    const [first, second] = output.text().split('\u001b[3A\u001b[J');
    const rows = first!.trimEnd().split('\n');
    expect(rows).toHaveLength(3);
    expect(rows[1]).toMatch(/^running +0\.0 s/);
    expect(rows.every((row) => row.length < 60)).toBe(true);
    expect(second).toBeDefined();
    expect(output.text().replaceAll(/\u001b\[\d+A\u001b\[J/g, '')).not.toContain('\u001b');
  });

  it('tells the CPU time of the process, in percent of a core', () => {
    let nowMs = 0;
    const monitor = new CrawlerMonitor({ output: screen(false) }, { clock: () => nowMs, cpuMs: () => nowMs / 4 });
    const end = monitor.begin();
    nowMs = 2_000;
    expect(monitor.summary()).toBe('0 done · 0 failed · 0 running · 0 waiting · 0.0/s · 0 B · cpu 25 % · 2.0 s');
    end();
  });

  it('makes room for what others write to the terminal, and shows itself below', () => {
    const output = screen(true);
    const monitor = new CrawlerMonitor({ output, displayMode: DisplayMode.AGGREGATED }, { clock: () => 0 });
    const end = monitor.begin();
    monitor.show();
    monitor.clear();
    monitor.clear();
    output.write('a result\n');
    monitor.show();
    end();
    const clears = output.text().match(/\u001b\[\d+A\u001b\[J/g);
    // Once for the result, once at the end: nothing after the result takes it away.
    expect(clears).toEqual(['\u001b[1A\u001b[J', '\u001b[1A\u001b[J']);
    expect(output.text()).toMatch(/^0 done.*\n\u001b\[1A\u001b\[Ja result\n0 done/);
  });

  it('names what is wrong with its options', () => {
    expect(() => new CrawlerMonitor({ displayMode: 'all' as never })).toThrow('one of "detailed", "aggregated"');
  });
});
