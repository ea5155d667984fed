// Reads the files beside this one: what `orcrawl compose` writes, with `__NAME__` where something is filled in.
// Alone in its module, so that it finds them in dist/ as in src/.
import { readFileSync } from 'node:fs';

export type TemplateName =
  'redis.yml' | 'services.yml' | 'prometheus.yml' | 'rules.yml' | 'datasource.yml' | 'provider.yml' | 'dashboard.json';

export function readTemplate(name: TemplateName): string {
  return readFileSync(new URL(`./${name}`, import.meta.url), 'utf8');
}
