import { describe, expect, it } from 'vitest';
import { createPackedInfos, operationInfo } from './operation-infos.js';

describe('packed infos', () => {
  const infos = createPackedInfos();
  infos.add(['https://a.example/1', 'https://a.example/22'], ['new', 'pending']);
  infos.add(['key with \n and é'], ['ended']);
  const expected = [
    operationInfo('https://a.example/1', 'new'),
    operationInfo('https://a.example/22', 'pending'),
    operationInfo('key with \n and é', 'ended'),
  ];

  it('read like a plain array of infos', () => {
    const list = infos.list();
    expect(Array.isArray(list)).toBe(true);
    expect(list).toHaveLength(3);
    expect([...list]).toEqual(expected);
    expect(list.map((info) => info)).toEqual(expected);
    expect(list.filter((info) => info.wasAlreadyPresent)).toEqual(expected.slice(1));
    expect(list).toEqual(expected);
    expect(list.at(-1)).toEqual(expected[2]);
    expect(list[3]).toBeUndefined();
    expect(JSON.parse(JSON.stringify(list))).toEqual(expected);
  });

  it('give the id under which the queue finds the request', () => {
    expect(infos.list()[0]!.requestId).toMatch(/^[0-9a-f]{16}$/);
  });
});
