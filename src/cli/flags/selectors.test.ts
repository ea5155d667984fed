import { describe, expect, it } from 'vitest';
import { checkSelectors } from './selectors.js';

const schema = (value: object) => ({ schema: JSON.stringify(value) });

describe('selectors of the command line', () => {
  it('are taken where they are valid', async () => {
    await checkSelectors({ selector: 'main > p' });
    await checkSelectors(schema({ items: '.card', fields: { name: { selector: 'h2' }, at: {} } }));
    await checkSelectors(schema({ engine: 'xpath', fields: { name: { selector: '//h2' } } }));
  });

  it.each([
    [{ selector: 'main >> p' }, '--selector "main >> p" is not a valid CSS selector'],
    [schema({ fields: { name: { selector: '//h1' } } }), 'For XPath, add "engine": "xpath"'],
    [
      schema({ items: '.card', fields: { of: { fields: { name: { selector: '[' } } } } }),
      '--schema: fields.of.name "[" is not a valid CSS selector',
    ],
    [schema({ items: ':nope', fields: {} }), '--schema: items ":nope"'],
    [schema({ engine: 'xpath', fields: { name: { selector: '//h1[' } } }), '//h1['],
  ])('are named where they are not: %j', async (flags, message) => {
    await expect(checkSelectors(flags)).rejects.toThrow(message);
  });
});
