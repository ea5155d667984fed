// A store of topology.ts as a service of a compose file.
import { readTemplate } from './monitoring/templates.js';
import { storeServer } from './topology.js';

export interface StoreOptions {
  readonly pod: number;
  readonly port: number;
  readonly image: string;
  readonly megabytes: number;
  /** The address that it listens on. */
  readonly bind: string;
}

/** A store as a service of a compose file, with its comments. */
export function storeYaml({ pod, port, image, megabytes, bind }: StoreOptions): string {
  const server = storeServer(image, megabytes);
  const flags = server.flags.map(
    ({ name, value, why }) => `${why ? `      # ${why}\n` : ''}      - ${name}\n      - ${JSON.stringify(value)}\n`,
  );
  const template = servicesIn(readTemplate('redis.yml')).replace('      # FLAGS\n', () => flags.join(''));
  return filled(template, {
    POD: String(pod),
    PORT: String(port),
    IMAGE: JSON.stringify(image),
    PROGRAM: server.program,
    DATA: server.dataPath,
    INNER: String(server.port),
    CLIENT: server.client,
    FILES: String(server.openFiles),
    GRACE: `${server.graceSecs}s`,
    BIND: bind.includes(':') ? `[${bind}]` : bind,
  });
}

/** A template without the line that makes it a document of its own. */
export function servicesIn(template: string): string {
  return template.replace(/^services:\n/, '');
}

export function filled(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(/__([A-Z]+)__/g, (_, name: string) => values[name]!);
}
