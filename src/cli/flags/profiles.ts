// Browser profiles by name or folder, as --user-data-dir and `orcrawl profile` know them.
// Promise: a name that does not exist is refused: a mistyped one would be an empty profile without a login.
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { UsageError } from '../exit-codes.js';
import { shown } from '../terminal.js';

/** The folder of named profiles. */
export function profilesFolder(): string {
  return path.join(process.env.XDG_DATA_HOME ?? path.join(homedir(), '.local', 'share'), 'orcrawl', 'profiles');
}

/** The folder of an existing profile. */
export function profileFolder(given: string): string {
  const named = path.join(profilesFolder(), given);
  if (/^[\w.-]+$/.test(given) && existsSync(named)) return named;
  const folder = path.resolve(given);
  if (existsSync(folder)) return folder;
  throw new UsageError(
    `--user-data-dir: there is no profile or folder "${shown(given)}": make one with orcrawl profile create, ` +
      'or see orcrawl profile list',
  );
}
