// The host of a normalised URL (as in links and requests): cut out, not parsed again.

/** Without port and credentials; '' if the text has no authority. */
export function hostPartOf(url: string): string {
  const start = url.indexOf('//') + 2;
  if (start < 2) return '';
  let end = url.length;
  for (let at = start; at < url.length; at++) {
    const code = url.charCodeAt(at);
    // '/', '?', '#'
    if (code === 47 || code === 63 || code === 35) {
      end = at;
      break;
    }
  }
  const authority = url.slice(start, end);
  const host = authority.slice(authority.lastIndexOf('@') + 1);
  if (host.startsWith('[')) return host.slice(0, host.indexOf(']') + 1);
  const colon = host.indexOf(':');
  return colon < 0 ? host : host.slice(0, colon);
}
