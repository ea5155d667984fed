// The file that `orcrawl config init` writes: what a crawl needs is set, every other key stands there commented out.
// Promise: it passes `config check` once email and seeds are filled in, and each key is in it exactly once.
import { KEY_GROUPS, keyRows, type KeyGroup, shownValue } from './key-reference.js';
import type { FileKey } from './keys.js';

export type Profile = 'test' | 'production';

export interface StarterOptions {
  readonly pods: number;
  readonly profile: Profile;
  readonly email?: string;
  readonly seedFile?: string;
  /** Port of the first Redis; the others follow. Production only. */
  readonly basePort?: number;
}

const DEFAULT_BASE_PORT = 6_379;
const WIDTH = 100;

export function starterFile(options: StarterOptions): string {
  const set = new Map(Object.entries(valuesOf(options)) as [FileKey, string][]);
  const rows = keyRows();
  const groups = (Object.keys(KEY_GROUPS) as KeyGroup[]).map((group) => {
    const lines = rows
      .filter((row) => row.group === group)
      .map(({ key, says, usually, type }) => {
        const value = set.get(key);
        const aside = usually === undefined ? `Accepts ${type}.` : `Default: ${usually}.`;
        const words = wrapped(`${says} ${aside}`.replaceAll('`', ''));
        const line = value === undefined ? `# ${key}: ${shownValue(key)}` : `${key}:${spaced(value)}`;
        return `${words}\n${line}\n`;
      });
    return `\n## ${KEY_GROUPS[group]}\n\n${lines.join('\n')}`;
  });
  return `${headOf(options)}${groups.join('')}`;
}

function headOf({ profile, pods }: StarterOptions): string {
  const stores =
    profile === 'test'
      ? '# Embedded stores: no server is needed.'
      : `# Needs ${pods === 1 ? 'one Redis' : `${pods} Redis servers`}: orcrawl compose --pods ${pods}, or for development orcrawl pods up --config FILE`;
  return [
    `# A crawl on ${pods === 1 ? 'one pod' : `${pods} pods`}, for ${profile}. Made by orcrawl config init.`,
    stores,
    '# Lines that begin with "# key:" show the default or an example; remove the # to change it.',
    '# Then: orcrawl config check FILE, orcrawl run --config FILE, and in another terminal orcrawl status --config FILE',
    '',
  ].join('\n');
}

function valuesOf({ pods, profile, email, seedFile, basePort = DEFAULT_BASE_PORT }: StarterOptions) {
  const stores = Array.from({ length: pods }, (_, pod) =>
    profile === 'test' ? `  - path: ./crawl/pod${pod}` : `  - redis_url: redis://127.0.0.1:${basePort + pod}`,
  );
  const common: Partial<Record<FileKey, string>> = {
    email: email ?? 'null # required',
    seed_file: seedFile === undefined ? 'null # required' : JSON.stringify(seedFile),
    pods: `\n${stores.join('\n')}`,
  };
  if (profile === 'production') {
    return {
      ...common,
      data_dirs: '[/mnt/ssd1/crawl, /mnt/ssd2/crawl] # one per disk',
      log_dir: '/var/log/crawl',
      fetchers_per_pod: '6',
      enable_cpu_affinity: 'true',
      cores_per_pod: '12',
      politeness_delay_seconds: '70',
      dedup: 'exact',
      durability: 'process',
    };
  }
  return {
    ...common,
    data_dirs: '[./crawl/data]',
    log_dir: './crawl/logs',
    log_level: 'DEBUG',
    fetcher_workers: '20',
    enable_cpu_affinity: 'false',
    politeness_delay_seconds: '5 # be polite in tests, too',
    max_pages: '1000',
    max_duration: '600',
  };
}

const spaced = (value: string): string => (value.startsWith('\n') ? value : ` ${value}`);

/** Comment lines of a limited width. */
function wrapped(text: string): string {
  const lines: string[] = [];
  let line = '#';
  for (const word of text.split(' ')) {
    if (line.length + word.length + 1 > WIDTH) {
      lines.push(line);
      line = '#';
    }
    line += ` ${word}`;
  }
  return [...lines, line].join('\n');
}
