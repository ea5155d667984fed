// The token of this tab: it comes in the fragment of the address, which browsers never send, and leaves it at once.
// Promise: it is in no URL, no referrer and no storage that outlives the tab.
const KEY = 'orcrawl-token';

export function takeToken(): string {
  const fragment = location.hash.slice(1);
  const given = fragment.startsWith('/') ? null : new URLSearchParams(fragment).get('token');
  if (given !== null) {
    sessionStorage.setItem(KEY, given);
    history.replaceState(null, '', '/#/');
  }
  return given ?? sessionStorage.getItem(KEY) ?? '';
}

export function keepToken(token: string): void {
  if (token === '') sessionStorage.removeItem(KEY);
  else sessionStorage.setItem(KEY, token);
}
