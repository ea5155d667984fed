// A proxy's URL in parts, as browser libraries take it: the login apart from the server.

/** The server of a proxy, and its login if it has one. */
export interface ProxyParts {
  server: string;
  username?: string;
  password?: string;
}

export function proxyPartsOf(proxyUrl: string): ProxyParts {
  const url = new URL(proxyUrl);
  const { username, password } = url;
  url.username = '';
  url.password = '';
  return {
    server: url.href.replace(/\/$/, ''),
    ...(username === '' ? {} : { username: decodeURIComponent(username) }),
    ...(password === '' ? {} : { password: decodeURIComponent(password) }),
  };
}
