import { describe, expect, it } from 'vitest';
import { schemaProblems } from './json-schema.js';

describe('schemaProblems', () => {
  const schema = {
    type: 'object',
    required: ['name', 'tags'],
    additionalProperties: false,
    properties: {
      name: { type: 'string', minLength: 2 },
      age: { type: ['integer', 'null'], minimum: 0 },
      tags: { type: 'array', items: { $ref: '#/$defs/tag' }, maxItems: 2 },
      kind: { enum: ['a', 'b'] },
      either: { anyOf: [{ type: 'string' }, { type: 'number' }] },
    },
    $defs: { tag: { type: 'string' } },
  };

  it('is empty for what fits', () => {
    expect(schemaProblems({ name: 'orca', age: null, tags: ['x'], kind: 'a', either: 1 }, schema)).toEqual([]);
    expect(schemaProblems(anything, true)).toEqual([]);
  });

  it('names what does not, with its place', () => {
    expect(schemaProblems({ name: 'o', age: 1.5, tags: [1], kind: 'c', either: null, more: 1 }, schema)).toEqual([
      '$.name: shorter than minLength 2',
      '$.age: expected integer or null, got number',
      '$.tags[0]: expected string, got number',
      '$.kind: not one of the allowed values',
      '$.either: fits none of anyOf',
      '$.more: nothing is allowed here',
    ]);
    expect(schemaProblems({}, schema)).toEqual(['$.name: missing', '$.tags: missing']);
  });

  it('ends for schemas that refer to themselves and values of any depth', () => {
    const loop = { $ref: '#' };
    expect(schemaProblems({}, loop)).toEqual([]);
    let deep: unknown = 1;
    for (let level = 0; level < 5_000; level++) deep = [deep];
    expect(schemaProblems(deep, { items: { $ref: '#' }, anyOf: [{ items: { $ref: '#' } }, { $ref: '#' }] })).toEqual(
      [],
    );
  });
});

const anything = { some: 'thing' };
