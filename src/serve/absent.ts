// Paths of Firecrawl's API that this server does not have, and what does the same here.
// Promise: whoever calls one is told which path and which setting to use.

const ABSENT: readonly (readonly [pattern: RegExp, hint: string])[] = [
  [
    /^\/v\d\/agent(?:\/|$)/,
    'There is no agent on this server. Use POST /v2/extract, which needs --llm-url and --llm-model, or the tools at /mcp.',
  ],
  [
    /^\/v\d\/(?:browser(?:\/|$)|scrape\/[^/]+\/interact)/,
    'This server keeps no browser sessions. Use "actions" of POST /v2/scrape; scripts in them need --allow-scripts.',
  ],
  [/^\/v1\/monitor(?:\/|$)/, 'Monitors are at /v2/monitor.'],
  [/^\/v\d\/parse(?:\/|$)/, 'Files cannot be uploaded to this server. Use POST /v2/scrape with the URL of the file.'],
  [
    /^\/v\d\/search\/.+/,
    'This server has one kind of search and takes no feedback. Use POST /v2/search, which needs --searxng.',
  ],
  [/^\/v\d\/feedback(?:\/|$)/, 'This server does not take feedback.'],
  [
    /^\/v\d\/(?:deep-research|llmstxt)(?:\/|$)/,
    'This path is not served. Use POST /v2/map and POST /v2/extract, which needs --llm-url and --llm-model.',
  ],
];

export function hintFor(path: string): string | undefined {
  return ABSENT.find(([pattern]) => pattern.test(path))?.[1];
}
