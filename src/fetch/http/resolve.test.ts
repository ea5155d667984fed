import { expect, it } from 'vitest';
import { parseHosts } from './resolve.js';

it('reads names, aliases and several addresses from a hosts file, and skips the rest', () => {
  const hosts = parseHosts(`
127.0.0.1\tlocalhost  Alias.Example # comment other.example
::1 localhost
# 10.0.0.1 commented.example
not-an-address name.example
10.0.0.2 box.example\r
`);
  expect(Object.fromEntries(hosts)).toEqual({
    localhost: ['127.0.0.1', '::1'],
    'alias.example': ['127.0.0.1'],
    'box.example': ['10.0.0.2'],
  });
});
