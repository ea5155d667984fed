import { describe, expect, it } from 'vitest';
import { connectError, launchError } from './launch-errors.js';

const plan = { headless: true, sandbox: true };
const told = (message: string, given: Partial<Parameters<typeof launchError>[1]> = {}) => {
  const { code, message: text } = launchError(new Error(message), { ...plan, ...given });
  return [code, text];
};

describe('a browser that did not start', () => {
  it('with a window and without a display says how to get one', () => {
    const noDisplay = 'closed\n║ Looks like you launched a headed browser without having a XServer running. ║';
    expect(told(noDisplay, { headless: false })).toEqual(['BROWSER_FAILED', expect.stringContaining('xvfb-run')]);
  });

  it('with a profile that another one has says so', () => {
    const inUse = 'closed\nFailed to create a ProcessSingleton for your profile directory';
    expect(told(inUse, { userDataDir: '/p' })).toEqual(['PROFILE_IN_USE', expect.stringContaining('/p')]);
  });

  it('without a sandbox says how to do without', () => {
    expect(told('No usable sandbox!')).toEqual(['BROWSER_FAILED', expect.stringContaining('disableBrowserSandbox')]);
    expect(told('closed\n--no-sandbox', { sandbox: false })[1]).toBe('the browser did not start: closed');
  });

  it('because its channel is not installed says what to do', () => {
    const missing = "Chromium distribution 'chrome' is not found at /opt/google/chrome/chrome\nRun npx";
    expect(told(missing)).toEqual(['BROWSER_MISSING', expect.stringContaining('remove "channel"')]);
  });
});

describe('a browser elsewhere that does not answer', () => {
  it('is named by its host alone: the rest of its address may be a token', () => {
    const typed = 'wss://me:secret@rented.example/secret/path?token=secret';
    const quoted =
      'connect failed: Unexpected status 401 when connecting to https://rented.example/json/version/?token=secret.\nsecret';
    const error = connectError(typed, new Error(quoted));
    expect([error.code, error.message]).toEqual([
      'BROWSER_FAILED',
      'no browser answers at wss://rented.example: connect failed: Unexpected status 401 when connecting to https://rented.example',
    ]);
    expect(error.cause).toBeUndefined();
    expect(connectError('secret', new Error('invalid url')).message).toBe(
      'no browser answers at its address: invalid url',
    );
  });
});
