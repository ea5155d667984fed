// The console's entry: takes the token from the address, then draws.
import { render } from 'preact';
import { App } from './app.js';
import { applyTheme } from './theme.js';
import { takeToken } from './token.js';

applyTheme();
const place = document.getElementById('app')!;
place.textContent = '';
render(<App token={takeToken()} />, place);
