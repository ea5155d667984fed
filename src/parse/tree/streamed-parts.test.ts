// Where the parts of a page end up that React sent after it.
import { describe, expect, it } from 'vitest';
import { placeStreamedParts } from './streamed-parts.js';

const placed = (html: string): string => placeStreamedParts(Buffer.from(html)).toString();
const waiting = (id: string, fallback: string): string =>
  `<!--$?--><template id="${id}"></template>${fallback}<!--/$-->`;

describe('placeStreamedParts', () => {
  it('puts a part in place of what stood in for it, by the call of the script', () => {
    const page =
      `<main><p>Before</p>${waiting('B:0', `<p>Loading ${waiting('B:9', 'more')}…</p>`)}<p>After</p></main>` +
      '<div hidden id="S:1"><p>The <b>part</b></p><div>and <div>more</div></div></div><script>$RC("B:0","S:1")</script>';
    expect(placed(page)).toBe(
      '<main><p>Before</p><!--$?--><p>The <b>part</b></p><div>and <div>more</div></div><!--/$--><p>After</p></main>' +
        '<script>$RC("B:0","S:1")</script>',
    );
  });

  it('fills holes within parts, whichever comes first', () => {
    const page =
      `<p>Start</p>${waiting('B:0', '')}` +
      '<div hidden id="S:2">innermost</div><script>$RS("S:2","P:2")</script>' +
      '<div hidden id="S:0">outer <template id="P:2"></template> outer</div><script>$RC("B:0","S:0")</script>';
    expect(placed(page)).toContain('<p>Start</p><!--$?-->outer innermost outer<!--/$--><script>');
  });

  it('goes by the keys where the script was taken out', () => {
    expect(placed(`${waiting('B:a', 'Loading')}<div hidden id="S:a">Part</div>`)).toBe('<!--$?-->Part<!--/$-->');
  });

  it('loses nothing of pages without parts, of parts without a hole and of parts around their own hole', () => {
    for (const html of [
      '<p>Text</p>',
      '<div hidden id="S:0">Part</div><script>$RC("B:0","S:0")</script>',
      '<div hidden id="S:0"><template id="B:0"></template></div><script>$RC("B:0","S:0")</script>',
      '<template id="B:0"></template><div hidden id="S:0">never closed',
      '<div hidden id="S:',
    ])
      expect([...placed(html)].sort(), html).toEqual([...html].sort());
  });

  it('takes time in proportion to the page', () => {
    const cpu = (html: string): number => {
      const start = process.cpuUsage();
      placed(html);
      const { user, system } = process.cpuUsage(start);
      return (user + system) / 1000;
    };
    for (const unit of [
      '<div hidden id="S:1">',
      '<!--$?--><template id="B:1"></template>',
      '<div hidden id="S:0"></div>$RC("B:0","S:0")',
    ])
      expect(cpu(unit.repeat(40_000)), unit).toBeLessThan(Math.max(20, cpu(unit.repeat(4_000))) * 30);
    let chain = '';
    for (let k = 0; k < 5_000; k++)
      chain += `<div hidden id="S:${k}"><template id="P:${k + 1}"></template></div>$RS("S:${k}","P:${k}")`;
    expect(placed(`<template id="P:0"></template>${chain}`).length).toBeGreaterThan(100_000);
  });
});
