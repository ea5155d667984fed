// Colours of summaries: on what we wrote ourselves, and only when wanted.
import { stripVTControlCharacters } from 'node:util';
import { expect, it } from 'vitest';
import { painted } from './terminal.js';

const LINES = [
  'Finished: 3 pages in 1.0 s, 3 per second.\n',
  'Reached --max-pages: 3 pages in 1.0 s, 3 per second.\n',
  '  Pages     3 stored, 0 failed\n',
  '  Failed    1 × DNS_NOT_FOUND, such as https://a.example/: not found\n',
  '            DNS_NOT_FOUND: Is the name spelled right?\n',
  '  Next      head -n 1 pages.jsonl\n',
];

it('paints how a line begins and changes nothing else', () => {
  const colours = LINES.map((line) => {
    const text = painted(line, true);
    return text === line ? undefined : text.slice(2, text.indexOf('m'));
  });
  expect(colours).toEqual(['32', '33', '2', '31', undefined, '36']);
  for (const line of LINES) expect(stripVTControlCharacters(painted(line, true))).toBe(line);
});

it('paints nothing where there are no colours', () => {
  for (const line of LINES) expect(painted(line, false)).toBe(line);
});
