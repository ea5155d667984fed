// A request of the console as the commands that make the same one. The token stays out of them: it is a variable.
export function curlFor(path: string, body: unknown): string {
  return [
    `curl ${location.origin}${path} \\`,
    '  -H "Authorization: Bearer $TOKEN" \\',
    "  -H 'Content-Type: application/json' \\",
    `  -d ${shellQuoted(JSON.stringify(body, null, 2))}`,
  ].join('\n');
}

export function typescriptFor(path: string, body: unknown): string {
  const shown = JSON.stringify(body, null, 2).replaceAll('\n', '\n  ');
  return `const answer = await fetch('${location.origin}${path}', {
  method: 'POST',
  headers: {
    authorization: \`Bearer \${process.env.TOKEN}\`,
    'content-type': 'application/json',
  },
  body: JSON.stringify(${shown}),
});
console.log(await answer.json());`;
}

const shellQuoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
