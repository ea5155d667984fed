// Lists of domains in files.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadDomainList } from '../../src/politeness/domain-list.js';
import { temporaryFolder } from '../support/crawl.js';

async function fileWith(text: string): Promise<string> {
  const file = path.join(await temporaryFolder(), 'domains.txt');
  await writeFile(file, text);
  return file;
}

describe('a list of domains', () => {
  it('has one a line, with comments, in any spelling', async () => {
    const text =
      '\ufeffexample.com # why\r\n\r\n# note\n*.Example.ORG\nhttps://x.example/start\nexample.com\nbücher.example';
    expect(await loadDomainList(await fileWith(text))).toEqual([
      ...['example.com', 'example.org', 'x.example'],
      'xn--bcher-kva.example',
    ]);
  });

  it('that has wrong lines or is not there says so', async () => {
    await expect(loadDomainList(await fileWith('a.example\nno domain\n\n/x'))).rejects.toMatchObject({
      code: 'OPTION_INVALID',
      message: expect.stringMatching(/line 2: "no domain".*line 4: "\/x"/) as string,
    });
    await expect(loadDomainList('/nowhere/domains.txt')).rejects.toMatchObject({ code: 'OPTION_INVALID' });
  });
});
