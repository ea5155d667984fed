// Whether the optional package playwright-core is installed, without loading it.
import { createRequire } from 'node:module';

export function isPlaywrightThere(): boolean {
  try {
    createRequire(import.meta.url).resolve('playwright-core');
    return true;
  } catch {
    return false;
  }
}
