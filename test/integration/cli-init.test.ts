// `orcrawl init`: its question, and what happens to existing files. The projects that it makes: package.test.ts.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { orcrawlHere } from '../support/cli-here.js';
import { inTemporaryFolder, MAIN } from './cli-process.js';

const init = (cwd: string, ...args: string[]) => orcrawlHere(['init', ...args], { cwd });
const json = async (file: string) => JSON.parse(await readFile(file, 'utf8')) as Record<string, Record<string, string>>;

/** What `orcrawl init` says on a terminal to somebody who answers its question. */
async function answered(cwd: string, folder: string, answer: string): Promise<string> {
  const line = `"${process.execPath}" "${MAIN}" init ${folder}`;
  const terminal = spawn('script', ['-qefc', line, '/dev/null'], { cwd, timeout: 60_000 });
  let said = '';
  terminal.stdout.setEncoding('utf8').on('data', (text: string) => {
    if (!said.includes('[1]') && (said + text).includes('[1]')) terminal.stdin.write(`${answer}\n`);
    said += text;
  });
  await once(terminal, 'close');
  return said;
}

describe('the question', () => {
  it('is asked on a terminal: a number or a name answers it', () =>
    inTemporaryFolder(async (folder) => {
      for (const [answer, template] of [
        ['3', 'batch'],
        ['pods', 'pods'],
        ['', 'cheerio'],
      ]) {
        const said = await answered(folder, `in-${template}`, answer!);
        expect(said).toContain(`from the template ${template}`);
        expect(await readdir(path.join(folder, `in-${template}`))).toContain('package.json');
      }
    }));
});

describe('files that are there', () => {
  it('are named and stay as they are; nothing is written', () =>
    inTemporaryFolder(async (folder) => {
      await mkdir(path.join(folder, 'src'));
      await writeFile(path.join(folder, 'src/main.ts'), 'mine');
      await writeFile(path.join(folder, 'README.md'), 'mine, too');
      const { code, stderr } = await init(folder, '--yes');
      expect(code).toBe(1);
      expect(stderr).toMatch(/already has .*src\/main\.ts/);
      expect(stderr).toContain('README.md');
      expect(await readdir(folder)).toEqual(['README.md', 'src']);
      expect(await readFile(path.join(folder, 'src/main.ts'), 'utf8')).toBe('mine');
    }));

  it('may be those of an earlier init: a second one completes it', () =>
    inTemporaryFolder(async (folder) => {
      expect((await init(folder, 'one', '--yes')).code).toBe(0);
      const again = await init(folder, 'one', '--yes');
      expect([again.code, again.stdout]).toEqual([0, expect.stringContaining('0 files')]);
    }));

  it('keeps scripts of the user and says which', () =>
    inTemporaryFolder(async (folder) => {
      await writeFile(
        path.join(folder, 'package.json'),
        JSON.stringify({ name: 'mine', scripts: { start: 'node mine.js' } }),
      );
      const { code, stdout } = await init(folder, '--template', 'batch');
      expect([code, stdout]).toEqual([0, expect.stringContaining('keeps its own start')]);
      const { name, scripts } = await json(path.join(folder, 'package.json'));
      expect([name, scripts!.start]).toEqual(['mine', 'node mine.js']);
    }));

  it('refuses a package.json that is not JSON, and an unknown template', () =>
    inTemporaryFolder(async (folder) => {
      await writeFile(path.join(folder, 'package.json'), '{ oops');
      expect(await init(folder, '--yes')).toMatchObject({ code: 1, stderr: expect.stringContaining('not valid JSON') });
      expect(await readdir(folder)).toEqual(['package.json']);
      expect(await init(folder, 'x', '--template', 'crawler')).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('cheerio'),
      });
    }));
});
