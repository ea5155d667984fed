// The OpenAPI document, made of the same schemas that check the bodies.
import { z } from 'zod';
import { createMonitorBody, updateMonitorBody } from '../api/monitor-schemas.js';
import * as schemas from '../api/schemas.js';

interface Described {
  readonly method: 'get' | 'post' | 'patch' | 'delete';
  readonly path: string;
  readonly summary: string;
  readonly body?: z.ZodType;
  readonly text?: string;
}

function versionPaths(version: 'v1' | 'v2'): Described[] {
  const at = `/${version}`;
  return [
    { method: 'post', path: `${at}/scrape`, summary: 'Fetch one page', body: schemas.scrapeBody },
    { method: 'post', path: `${at}/crawl`, summary: 'Start a crawl', body: schemas.crawlBody },
    {
      method: 'post',
      path: `${at}/crawl/params-preview`,
      summary: 'Parameters of a crawl from a prompt',
      body: schemas.previewBody,
    },
    { method: 'get', path: `${at}/crawl/active`, summary: 'Crawls that run' },
    { method: 'get', path: `${at}/crawl/{id}`, summary: 'State and documents of a crawl, in pages' },
    { method: 'delete', path: `${at}/crawl/{id}`, summary: 'Cancel a crawl' },
    { method: 'get', path: `${at}/crawl/{id}/errors`, summary: 'Pages that failed, and those that robots.txt forbids' },
    { method: 'post', path: `${at}/batch/scrape`, summary: 'Fetch a list of pages', body: schemas.batchBody },
    { method: 'get', path: `${at}/batch/scrape/{id}`, summary: 'State and documents of a batch, in pages' },
    { method: 'delete', path: `${at}/batch/scrape/{id}`, summary: 'Cancel a batch' },
    { method: 'get', path: `${at}/batch/scrape/{id}/errors`, summary: 'Pages that failed' },
    { method: 'post', path: `${at}/map`, summary: 'List the URLs of a site', body: schemas.mapBody },
    { method: 'post', path: `${at}/search`, summary: 'Search the web (needs --searxng)', body: schemas.searchBody },
    {
      method: 'post',
      path: `${at}/extract`,
      summary: 'Data from pages by a model (needs --llm-url)',
      body: schemas.extractBody,
    },
    { method: 'get', path: `${at}/extract/{id}`, summary: 'State and answer of an extraction' },
    { method: 'get', path: `${at}/concurrency-check`, summary: 'How busy the server is' },
    { method: 'get', path: `${at}/team/queue-status`, summary: 'Jobs of this token' },
    { method: 'get', path: `${at}/team/credit-usage`, summary: 'Pages this token may still fetch today' },
  ];
}

const PATHS: readonly Described[] = [
  ...versionPaths('v2'),
  ...versionPaths('v1'),
  { method: 'post', path: '/v2/monitor', summary: 'Check pages for changes on a schedule', body: createMonitorBody },
  { method: 'get', path: '/v2/monitor', summary: 'Monitors of this token' },
  { method: 'get', path: '/v2/monitor/{id}', summary: 'A monitor' },
  { method: 'patch', path: '/v2/monitor/{id}', summary: 'Change, pause or resume a monitor', body: updateMonitorBody },
  { method: 'delete', path: '/v2/monitor/{id}', summary: 'Remove a monitor and its checks' },
  { method: 'post', path: '/v2/monitor/{id}/run', summary: 'Check now' },
  { method: 'get', path: '/v2/monitor/{id}/checks', summary: 'Checks of a monitor, the newest first' },
  { method: 'get', path: '/v2/monitor/{id}/checks/{checkId}', summary: 'A check with its pages and their diffs' },
  { method: 'get', path: '/read/{url}', summary: 'One page as markdown, JSON or HTML', text: 'text/markdown' },
  { method: 'get', path: '/health', summary: 'Whether the server takes requests; needs no token' },
  { method: 'get', path: '/metrics', summary: 'Figures for Prometheus', text: 'text/plain' },
  { method: 'post', path: '/mcp', summary: 'Model Context Protocol, streamable HTTP' },
];

const FAILURE = {
  type: 'object',
  required: ['success', 'error'],
  properties: { success: { const: false }, error: { type: 'string' }, code: { type: 'string' }, details: {} },
};

export function openApiDocument(version: string): Record<string, unknown> {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const one of PATHS) (paths[one.path] ??= {})[one.method] = operationOf(one);
  return {
    openapi: '3.1.0',
    info: {
      title: 'orcrawl',
      version,
      description: "Firecrawl's API, versions 2 and 1, and a reader, on your own machine.",
    },
    security: [{ token: [] }],
    paths,
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
      schemas: { Failure: FAILURE },
      responses: {
        Failure: { description: 'What was wrong', content: json({ $ref: '#/components/schemas/Failure' }) },
      },
    },
  };
}

const json = (schema: unknown): Record<string, unknown> => ({ 'application/json': { schema } });

function operationOf({ method, path, summary, body, text }: Described): Record<string, unknown> {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
  const words = path.replace(/[{}]/g, '').split(/[/-]/).filter(Boolean);
  return {
    summary,
    operationId: [method, ...words].join('_'),
    ...(path === '/health' && { security: [] }),
    ...(names.length > 0 && {
      parameters: names.map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } })),
    }),
    ...(body && {
      requestBody: { required: true, content: json(z.toJSONSchema(body, { io: 'input', unrepresentable: 'any' })) },
    }),
    responses: {
      200: {
        description: 'Done',
        content: text ? { [text]: { schema: { type: 'string' } } } : json({ type: 'object' }),
      },
      default: { $ref: '#/components/responses/Failure' },
    },
  };
}
