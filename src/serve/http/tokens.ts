// Who may use the server: the token of the data directory, and named ones with limits of their own.
// Promise: compared in constant time; a token is never written to a log or an answer.
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { CrawlError } from '../../errors.js';

export interface Token {
  readonly name: string;
  /** Scrapes at once. */
  readonly concurrency: number;
  readonly pagesPerDay: number;
}

export interface Tokens {
  /** The token somebody shows, or undefined when it is none of ours. */
  find(shown: string | undefined): Token | undefined;
}

/** Whose jobs everybody's are. */
export const OWNER_NAME = 'owner';

export const OWNER: Token = Object.freeze({ name: OWNER_NAME, concurrency: Infinity, pagesPerDay: Infinity });
const MAX_TOKENS = 1_000;

/** Everybody is the owner: only for a server that nobody else reaches. */
export const openToAll: Tokens = { find: () => OWNER };

/** One token, for as long as the process lives. */
export function oneToken(token: string): Tokens {
  const digest = digestOf(token);
  return {
    find: (shown) => (shown !== undefined && timingSafeEqual(digest, digestOf(shown)) ? OWNER : undefined),
  };
}

/** Reads the tokens of a data directory; makes the first one. `onMade` is told it, once. */
export async function openTokens(dataDir: string, onMade: (token: string) => void): Promise<Tokens> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const file = path.join(dataDir, 'token');
  let token = (await readFile(file, 'utf8').catch(() => '')).trim();
  if (token === '') {
    token = `orc-${randomBytes(24).toString('base64url')}`;
    await writeFile(file, `${token}\n`, { mode: 0o600 });
    await chmod(file, 0o600);
    onMade(token);
  }
  const known = [{ digest: digestOf(token), token: OWNER }, ...(await namedTokens(path.join(dataDir, 'tokens.yaml')))];
  return {
    find(shown) {
      if (shown === undefined) return undefined;
      const digest = digestOf(shown);
      let found: Token | undefined;
      // All are compared: how long it takes tells nothing.
      for (const one of known) if (timingSafeEqual(one.digest, digest)) found = one.token;
      return found;
    },
  };
}

const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest();

async function namedTokens(file: string): Promise<{ digest: Buffer; token: Token }[]> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw new CrawlError('OPTION_INVALID', `${file} cannot be read: ${error.message}`);
  });
  if (text === undefined) return [];
  const [{ parse }, { z }] = await Promise.all([import('yaml'), import('zod')]);
  const shape = z.strictObject({
    tokens: z
      .array(
        z.strictObject({
          name: z
            .string()
            .min(1)
            .max(100)
            .refine((name) => name !== OWNER_NAME, 'is the name of the first token'),
          token: z.string().min(16).max(500),
          concurrency: z.int().min(1).optional(),
          pagesPerDay: z.int().min(1).optional(),
        }),
      )
      .max(MAX_TOKENS),
  });
  let content: unknown;
  try {
    content = parse(text, { maxAliasCount: 0 });
  } catch (error) {
    // The message quotes the file: a token, perhaps.
    const { line } = (error as { linePos?: readonly { line: number }[] }).linePos?.[0] ?? {};
    const place = line === undefined ? 'aliases are not allowed' : `line ${line}`;
    throw new CrawlError('OPTION_INVALID', `${file} is not valid YAML: ${place}`);
  }
  const read = shape.safeParse(content);
  if (!read.success) {
    const [issue] = read.error.issues;
    throw new CrawlError('OPTION_INVALID', `${file}: ${issue!.path.join('.')}: ${issue!.message}`);
  }
  return read.data.tokens.map(({ name, token, concurrency = Infinity, pagesPerDay = Infinity }) => ({
    digest: digestOf(token),
    token: { name, concurrency, pagesPerDay },
  }));
}
