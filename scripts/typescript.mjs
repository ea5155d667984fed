// Lets Node run the TypeScript of this repository: `node --import ./scripts/typescript.mjs FILE`. Promise: modules stay
// modules, and loading all of src/ costs 0.8 CPU-seconds (6 to 10 with jiti/register, which keeps nothing it made).
import { register } from 'node:module';

register('./typescript-hooks.mjs', import.meta.url);
