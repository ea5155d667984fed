// GET /docs: the OpenAPI document as a page, made here, with nothing from another host and no script.
// Promise: everything from the document is text; the page needs no network.
type Json = Record<string, unknown>;

export const DOCS_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

const STYLE = `body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color-scheme:light dark}
code,pre{font:14px/1.45 ui-monospace,monospace}pre{overflow:auto;padding:.75rem;border:1px solid #8884;border-radius:6px}
h2{margin-top:2rem;font-size:1.1rem}summary{cursor:pointer}.m{display:inline-block;min-width:4.5rem;font-weight:600}
table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:.25rem .5rem;border-bottom:1px solid #8883;vertical-align:top}`;

export function docsPage(document: Json, base: string): string {
  const { info, paths } = document as { info: Json; paths: Record<string, Record<string, Json>> };
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => operationHtml(method, path, operation)),
  );
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>orcrawl API</title>
<style>${STYLE}</style></head><body>
<h1>orcrawl ${escaped(String(info.version))}</h1>
<p>${escaped(String(info.description))} The same as data: <a href="/openapi.json">/openapi.json</a>.</p>
<pre>curl -H "Authorization: Bearer $TOKEN" ${escaped(base)}/read/https://example.com/

curl -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" \\
  -d '{"url":"https://example.com","formats":["markdown","links"]}' ${escaped(base)}/v2/scrape</pre>
${operations.join('\n')}
</body></html>
`;
}

function operationHtml(method: string, path: string, { summary, requestBody }: Json): string {
  const content = (requestBody as Json | undefined)?.content as Json | undefined;
  const schema = (content?.['application/json'] as Json | undefined)?.schema as Json | undefined;
  const head = `<h2><span class="m">${escaped(method.toUpperCase())}</span><code>${escaped(path)}</code></h2><p>${escaped(String(summary))}</p>`;
  return schema ? `${head}<details><summary>Body</summary>${fieldsHtml(schema)}</details>` : head;
}

function fieldsHtml(schema: Json): string {
  const required = new Set((schema.required as string[] | undefined) ?? []);
  const rows = Object.entries((schema.properties ?? {}) as Record<string, Json>).map(
    ([name, field]) =>
      `<tr><td><code>${escaped(name)}</code>${required.has(name) ? ' (required)' : ''}</td><td>${escaped(typeOf(field))}</td><td>${escaped(String(field.description ?? ''))}</td></tr>`,
  );
  return `<table><tr><th>Field</th><th>Type</th><th></th></tr>${rows.join('')}</table>`;
}

function typeOf(field: Json): string {
  if (Array.isArray(field.enum)) return field.enum.map(String).join(' | ');
  if (Array.isArray(field.anyOf)) return [...new Set((field.anyOf as Json[]).map(typeOf))].join(' | ');
  if (field.type === 'array') return `list of ${typeOf((field.items ?? {}) as Json)}`;
  return String(field.type ?? 'any');
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
