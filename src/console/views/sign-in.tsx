// What somebody sees without a valid token: a place for it, and where it is found.
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Icon, Logo } from '../icons.js';
import { Button, Code } from '../parts.js';

export function SignIn({ onToken }: { onToken: (token: string) => void }): JSX.Element {
  const [token, setToken] = useState('');
  return (
    <main class="sign-in">
      <Logo />
      <h1>This console needs a token</h1>
      <p>The server was started with one. It is kept in its data directory:</p>
      <Code text="cat orcrawl-server/token" label="the command that shows the token" />
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (token.trim() !== '') onToken(token.trim());
        }}
      >
        <label for="token">Token</label>
        <input
          id="token"
          type="password"
          autocomplete="off"
          spellcheck={false}
          value={token}
          onInput={(event) => setToken(event.currentTarget.value)}
        />
        <Button kind="primary" type="submit">
          Open the console
        </Button>
      </form>
      <p class="hint">
        <Icon name="key" /> It stays in this tab and is sent to this server only.
      </p>
    </main>
  );
}
