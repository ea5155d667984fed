// Profiles are found by name or folder, never made by a mistyped name.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { profileFolder } from './profiles.js';

it('takes a folder that exists, and refuses a name that does not', () => {
  expect(profileFolder(import.meta.dirname)).toBe(import.meta.dirname);
  expect(() => profileFolder('mistyped')).toThrow(
    'no profile or folder "mistyped": make one with orcrawl profile create',
  );
  expect(existsSync(path.resolve('mistyped'))).toBe(false);
});
