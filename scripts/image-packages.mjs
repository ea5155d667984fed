// For the Dockerfile: optional packages that the image has. They are for development here, so `npm prune --omit=dev`
// would remove them. Keeps the versions of the lockfile. Usage: node scripts/image-packages.mjs NAME…
import { readFileSync, writeFileSync } from 'node:fs';

const FILE = 'package.json';
const content = JSON.parse(readFileSync(FILE, 'utf8'));
for (const name of process.argv.slice(2)) {
  const version = content.devDependencies[name];
  if (version === undefined || !(name in content.peerDependencies)) {
    throw new Error(`${name} is not an optional package of orcrawl`);
  }
  content.dependencies[name] = version;
  delete content.devDependencies[name];
}
writeFileSync(FILE, `${JSON.stringify(content, null, 2)}\n`);
