import { parse } from 'yaml';
import { describe, expect, it } from 'vitest';
import { METRICS } from '../../observe/metrics-catalogue.js';
import { COMPOSE_DEFAULTS, composeFiles } from './compose.js';
import { readTemplate } from './monitoring/templates.js';

interface Compose {
  services: Record<string, { image: string; command: string[]; ports?: string[]; volumes: string[] }>;
  volumes: Record<string, object>;
}

describe('compose files', () => {
  const files = composeFiles({ ...COMPOSE_DEFAULTS, pods: 3, totalMemoryGb: 6, bind: '::1' }, 'compose.yml');
  const compose = parse(files.get('compose.yml')!, { version: '1.1' }) as Compose;

  it('have a store per pod with a port and a volume of its own, Prometheus and Grafana', () => {
    expect(Object.keys(compose.services)).toEqual(['redis-0', 'redis-1', 'redis-2', 'prometheus', 'grafana']);
    expect(compose.services['redis-2']).toMatchObject({
      image: 'redis:7-alpine',
      ports: ['[::1]:6381:6379'],
      volumes: ['redis_data_2:/data', './logs/redis-2:/data/log'],
    });
    expect(compose.services['redis-2']!.command).toEqual(
      expect.arrayContaining(['redis-server', '--maxmemory', '2048mb', '--appendonly', 'yes', '--save', '3600 1']),
    );
    expect(Object.keys(compose.volumes)).toHaveLength(5);
  });

  it('take an image as it is written', () => {
    const image = 'registry.example:5000/valkey/valkey:8 # mine';
    const other = composeFiles({ ...COMPOSE_DEFAULTS, pods: 1, image }, 'compose.yml');
    const { services } = parse(other.get('compose.yml')!) as Compose;
    expect(services['redis-0']).toMatchObject({ image, command: expect.arrayContaining(['valkey-server']) as unknown });
  });

  it('leave nothing to be filled in', () => {
    for (const [name, text] of files) expect([name, /__[A-Z]+__/.test(text)]).toEqual([name, false]);
  });

  it('ask only for metrics of the catalogue', () => {
    const asked = `${readTemplate('dashboard.json')}${readTemplate('rules.yml')}`.match(/orcrawl_\w+/g)!;
    const unknown = asked.filter((name) => !(name.replace(/_bucket$/, '') in METRICS));
    expect(unknown).toEqual([]);
    expect(asked.length).toBeGreaterThan(30);
  });
});
