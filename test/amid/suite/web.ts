// The web of the suite as its runner sees it: the server process, the URLs of good and hostile pages, and all kinds.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export interface Kind {
  readonly name: string;
  readonly family: 'host' | 'page' | 'browser';
  /** Ends by a time limit only. */
  readonly isSlow: boolean;
}

export interface AmidWeb {
  good(number: number): string;
  hostile(kind: string): string;
  close(): Promise<void>;
}

export const GOOD_PAGES = 40;

export async function allKinds(): Promise<Kind[]> {
  const parts = await Promise.all(
    (['hosts', 'pages', 'browsers'] as const).map(async (name) => {
      const exported = (await import(`../web/${name}.mjs`)) as Record<string, Record<string, { isSlow?: true }>>;
      return exported[name.toUpperCase()]!;
    }),
  );
  return parts.flatMap((part, index) =>
    Object.entries(part).map(([name, { isSlow }]) => ({
      name,
      family: (['host', 'page', 'browser'] as const)[index]!,
      isSlow: isSlow === true,
    })),
  );
}

export async function startWeb(): Promise<AmidWeb> {
  const names = (await allKinds()).map(({ name }) => name);
  const file = fileURLToPath(new URL('../web/server.mjs', import.meta.url));
  const child = spawn(process.execPath, [file], { stdio: ['pipe', 'pipe', 'inherit'] });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const port = Number(line.toString());
  return {
    good: (number) => `http://127.0.1.${number + 1}:${port}/good/${number}`,
    hostile(kind) {
      const index = names.indexOf(kind);
      return `http://127.0.${2 + Math.floor(index / 200)}.${(index % 200) + 1}:${port}/${kind}`;
    },
    async close() {
      child.stdin.end();
      if (child.exitCode === null) await once(child, 'exit');
    },
  };
}
