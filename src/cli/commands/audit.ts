// `orcrawl audit`: checks a finished or running crawl: that it was polite (by its visit log), or with --content that its
// stored pages are intact and findable.
// Promise: exit code 1 on any violation, and if there is nothing to check.
import type { Command } from 'commander';
import { access } from 'node:fs/promises';
import path from 'node:path';
import { countOf, countText } from '../../observe/figures.js';
import type { DomainAudit, VisitAudit } from '../../politeness/audit.js';
import type { ContentAudit } from '../../store/content/audit.js';
import { EXIT, UsageError } from '../exit-codes.js';
import { say, shown } from '../terminal.js';

const DOMAINS_SHOWN = 20;
const VIOLATIONS_SHOWN = 10;

export function addAuditCommand(program: Command, onExit: (code: number) => void): void {
  program
    .command('audit')
    .summary('check how polite a crawl was, or its stored pages')
    .description(
      'Reads the visit log of a crawl and compares, for each domain, the smallest gap between requests with the ' +
        'required delay; also counts URLs skipped by robots.txt and other rules. With --content it checks the stored ' +
        'pages of a crawl on pods instead: every index line must point at a complete record, every record must match ' +
        'its digest, and every page must have a line.',
    )
    .argument(
      '<DIR...>',
      "the crawl's folder (--out), a storage folder of the library, or the log_dir of a crawl on pods; with --content, its data directories",
    )
    .option('--content', 'check stored pages: index lines, records, digests')
    .option('--json', 'print all details as JSON')
    .addHelpText('after', EXAMPLES)
    .action(async (folders: string[], flags: AuditFlags) => onExit(await run(folders, flags)));
}

interface AuditFlags {
  readonly content?: boolean;
  readonly json?: boolean;
}

const EXAMPLES = `
Examples:
  $ orcrawl audit orcrawl-out/example.com
  $ orcrawl audit --content /mnt/ssd1/crawler_data /mnt/ssd2/crawler_data

Exit codes: 0 no violations, 1 otherwise.
`;

async function run(folders: readonly string[], { content = false, json = false }: AuditFlags): Promise<number> {
  if (content) return auditStored(folders, json);
  const [folder, ...more] = folders as [string, ...string[]];
  if (more.length > 0) throw new UsageError('give one folder: only --content accepts several');
  return audit(folder, json);
}

async function auditStored(dataDirs: readonly string[], isJson: boolean): Promise<number> {
  for (const dir of dataDirs) {
    await access(path.join(dir, 'content')).catch(() => {
      throw new UsageError(`${dir} has no folder "content": give the data directories of a crawl on pods`);
    });
  }
  const { auditContent } = await import('../../store/content/audit.js');
  const found = await auditContent(dataDirs);
  if (isJson) say(JSON.stringify(found, null, 2));
  else for (const line of contentLines(found)) say(line);
  return found.problemCount === 0 && found.segments > 0 ? EXIT.done : EXIT.misuse;
}

const PROBLEMS_SHOWN = 20;

/** The audit of stored pages for people, line by line. */
export function contentLines(found: ContentAudit): string[] {
  const { segments, records, lines, problemCount, problems, beingWritten } = found;
  const what = `${countOf(records, 'record')} and ${countOf(lines, 'index line')} in ${countOf(segments, 'segment')}`;
  const shownLines = [
    problemCount === 0 ? `Whole: ${what} agree.` : `Damaged: ${countOf(problemCount, 'problem')} in ${what}.`,
  ];
  if (segments === 0) shownLines[0] = 'No stored pages found.';
  for (const { where, problem } of problems.slice(0, PROBLEMS_SHOWN))
    shownLines.push(`  ${shown(where, 1_000)}: ${shown(problem, 1_000)}`);
  if (problemCount > PROBLEMS_SHOWN)
    shownLines.push(`  … and ${countText(problemCount - PROBLEMS_SHOWN)} more (--json)`);
  if (beingWritten > 0)
    shownLines.push(`Partly checked: ${countOf(beingWritten, 'segment is', 'segments are')} being written.`);
  return shownLines;
}

async function audit(folder: string, isJson: boolean): Promise<number> {
  await access(folder).catch(() => {
    throw new UsageError(`folder not found: ${folder}; give the --out of a crawl`);
  });
  const { auditVisits } = await import('../../politeness/audit.js');
  const inside = path.join(folder, 'visits');
  const logs = await access(inside).then(
    () => inside,
    () => folder,
  );
  const found = await auditVisits(logs);
  if (found.files === 0) {
    throw new UsageError(`${folder} has no visit log: only polite crawls write one (see docs/politeness.md)`);
  }
  if (isJson) say(JSON.stringify(found, null, 2));
  else for (const line of auditLines(found)) say(line);
  return found.violationCount === 0 ? EXIT.done : EXIT.misuse;
}

/** The audit for people, line by line. */
export function auditLines(found: VisitAudit): string[] {
  const { domains, violations, violationCount } = found;
  const paced = domains.filter(({ requiredMs = 0 }) => requiredMs > 0);
  const lines = [
    violationCount === 0
      ? `Polite: ${countOf(found.requests, 'request')} to ${countOf(domains.length, 'domain')}, none too early.`
      : `Not polite: ${countOf(violationCount, 'request')} of ${countText(found.requests)} came too early.`,
  ];
  for (const { domain, gapMs, requiredMs } of violations.slice(0, VIOLATIONS_SHOWN)) {
    lines.push(`  ${domain}: ${msText(gapMs)} after the last response, where ${msText(requiredMs)} were due`);
  }
  if (paced.length > 0) lines.push('', `  ${'smallest gap'.padStart(12)}  ${'due'.padStart(10)}  requests  domain`);
  for (const one of paced.slice(0, DOMAINS_SHOWN)) lines.push(domainLine(one));
  if (paced.length > DOMAINS_SHOWN) lines.push(`  … and ${countText(paced.length - DOMAINS_SHOWN)} more (--json)`);
  const unpaced = domains.length - paced.length;
  if (unpaced > 0) lines.push(`  ${countOf(unpaced, 'domain')} without a required delay`);
  lines.push('', ...counts('Answers', found.statuses), ...counts('Decisions', found.decisions));
  if (found.sentRequests > 0) {
    lines.push(`Not paced: ${countOf(found.sentRequests, 'request')} that handlers sent themselves (sendRequest).`);
  }
  if (found.missingFiles + found.missingLines > 0) {
    lines.push(
      `Not checked: ${countOf(found.missingFiles, 'file')} deleted by rotation, ` +
        `${countOf(found.missingLines, 'line')} not written or unreadable.`,
    );
  }
  return lines;
}

function domainLine({ domain, requests, smallestGapMs, requiredMs }: DomainAudit): string {
  const gap = msText(smallestGapMs!).padStart(12);
  return `  ${gap}  ${msText(requiredMs!).padStart(10)}  ${countText(requests).padStart(8)}  ${domain}`;
}

function counts(title: string, by: Readonly<Record<string, number>>): string[] {
  const entries = Object.entries(by).sort(([, a], [, b]) => b - a);
  if (entries.length === 0) return [];
  return [`${title}: ${entries.map(([name, count]) => `${name} × ${countText(count)}`).join(', ')}`];
}

function msText(ms: number): string {
  return `${ms.toFixed(ms < 100 ? 1 : 0)} ms`;
}
