import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { extractContent } from '../../crawl/page/extraction.js';

it('leaves out the title of a menu whose entries are left out', () => {
  const page = readFileSync(new URL('../../../test/conformance/known-software/gov-uk.html', import.meta.url));
  const { markdown } = extractContent(page, { url: 'https://known.example/page' });
  expect(markdown).toContain('## Documents');
  expect(markdown).not.toContain('Contents');
});
