// What we ship of others: licences, install scripts and known weaknesses of the packages in package-lock.json.
// Promise: fails on a licence or an install script that is not on the lists below, and on a weakness that the registry
// knows of. A registry that does not respond is named but is not a failure, so that CI works without one.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Licences that let anybody use, change and ship the package with ours (Apache-2.0). */
export const LICENCES = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'ISC',
  'MIT',
  'MIT-0',
  'Unlicense',
]);

/**
 * Packages whose install script we have read. Both run node-gyp-build-optional-packages: it looks for a binary that npm
 * installed beside them, and builds one only where there is none.
 */
export const INSTALL_SCRIPTS = new Set(['lmdb', 'msgpackr-extract']);

/** Where packages may come from. */
const REGISTRY = 'https://registry.npmjs.org/';

/** What is wrong with a lockfile, as lines. */
export function problemsOf(lock) {
  const problems = [];
  for (const [path, entry] of Object.entries(lock.packages ?? {})) {
    if (path === '' || entry.link) continue;
    const name = entry.name ?? path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
    const what = `${name}@${entry.version}`;
    if (entry.hasInstallScript && !INSTALL_SCRIPTS.has(name)) {
      problems.push(`${what} runs a script when it is installed: read it, then add it to INSTALL_SCRIPTS`);
    }
    if (entry.resolved !== undefined && !entry.resolved.startsWith(REGISTRY)) {
      problems.push(`${what} comes from ${entry.resolved}, not from ${REGISTRY}`);
    }
    if (entry.integrity === undefined && !entry.inBundle) problems.push(`${what} has no checksum in the lockfile`);
    if (!entry.dev && !isAllowed(entry.license)) {
      problems.push(`${what} has the licence ${entry.license ?? '(none)'}: not on the list of LICENCES`);
    }
  }
  return problems;
}

/** `A OR B` needs one that is allowed, `A AND B` both. */
export function isAllowed(licence) {
  if (typeof licence !== 'string') return false;
  const text = licence.replace(/^\((.*)\)$/, '$1');
  if (text.includes('(')) return false;
  return text.split(' OR ').some((choice) => choice.split(' AND ').every((one) => LICENCES.has(one.trim())));
}

/** The weaknesses that the registry knows of; undefined when it does not answer. */
function audit() {
  let text;
  try {
    text = npm('audit', '--omit=dev', '--json');
  } catch (error) {
    // npm ends with 1 when it found something.
    text = String(error.stdout ?? '');
  }
  try {
    const { vulnerabilities, message } = JSON.parse(text);
    if (vulnerabilities === undefined) return { unanswered: message ?? 'no report' };
    return {
      found: Object.values(vulnerabilities).map(({ name, severity, range }) => `${name} ${range}: ${severity}`),
    };
  } catch {
    return { unanswered: 'no report' };
  }
}

function npm(...args) {
  return execFileSync('npm', args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: 120_000,
    maxBuffer: 64 * 1024 * 1024,
  });
}

/** What a package of orcrawl holds of others, as CycloneDX. */
function writeSbom(file) {
  const text = npm('sbom', '--omit=dev', '--omit=peer', '--sbom-format=cyclonedx', '--package-lock-only');
  const bom = JSON.parse(text);
  // npm names the component after the folder.
  bom.metadata.component.name = JSON.parse(readFileSync('package.json', 'utf8')).name;
  writeFileSync(file, `${JSON.stringify(bom, null, 2)}\n`);
  return bom.components.length;
}

function main(args) {
  process.chdir(fileURLToPath(new URL('..', import.meta.url)));
  if (args[0] === '--sbom') {
    const file = args[1] ?? 'sbom.cdx.json';
    console.log(`${file}: ${writeSbom(file)} components`);
    return 0;
  }
  const lock = JSON.parse(readFileSync('package-lock.json', 'utf8'));
  const problems = problemsOf(lock);
  const { found = [], unanswered } = audit();
  for (const problem of [...problems, ...found]) console.error(`error: ${problem}`);
  if (unanswered !== undefined)
    console.log(`npm audit was not possible here (${unanswered}): known weaknesses are not checked.`);
  else if (found.length === 0) console.log('npm audit knows of no weakness.');
  if (problems.length === 0)
    console.log(`${Object.keys(lock.packages).length - 1} packages: licences and install scripts are known.`);
  return problems.length + found.length === 0 ? 0 : 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = main(process.argv.slice(2));
