// Google's published robots.txt cases over our parser: all in Google mode, all but one in the default mode.
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type RobotsMode, RobotsTxt } from '../../src/politeness/robots/robots.js';

interface Case {
  readonly file: string;
  readonly robotstxt_base64: string;
  readonly expectations: readonly { url: string; userAgent: string; allowed: boolean; googleOnly: boolean }[];
}

const DATA = new URL('../../../shared/data/robots/google-correctness.json', import.meta.url);
const isThere = existsSync(DATA);

function run(mode: RobotsMode): { asked: number; wrong: string[] } {
  const cases = JSON.parse(readFileSync(DATA, 'utf8')) as Case[];
  const wrong: string[] = [];
  let asked = 0;
  for (const { file, robotstxt_base64, expectations } of cases) {
    const robots = RobotsTxt.parse(Buffer.from(robotstxt_base64, 'base64'), { mode });
    for (const { url, userAgent, allowed } of expectations) {
      asked++;
      if (robots.isAllowed(url, userAgent) !== allowed) wrong.push(`${file}: ${url} as ${userAgent}`);
    }
  }
  return { asked, wrong };
}

describe.skipIf(!isThere)(`Google’s robots.txt cases${isThere ? '' : ' (skipped: ../shared/data is not here)'}`, () => {
  it('hold in Google mode, all 146', () => {
    expect(run('google')).toEqual({ asked: 146, wrong: [] });
  });

  it('hold by RFC 9309 too, but for the folder of an index page, which the RFC does not know', () => {
    expect(run('rfc')).toEqual({ asked: 146, wrong: ['index-page: http://foo.com/allowed-slash/ as foobot'] });
  });
});
