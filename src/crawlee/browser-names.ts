// Names of browsers, devices and systems, as scripts give them to `fingerprintOptions`.

/**
 * Browsers a fingerprint can be of.
 *
 * @example
 * const browsers = [BrowserName.firefox];
 */
export enum BrowserName {
  chrome = 'chrome',
  firefox = 'firefox',
  edge = 'edge',
  safari = 'safari',
}

/**
 * Devices a fingerprint can be of.
 *
 * @example
 * const devices = [DeviceCategory.desktop];
 */
export enum DeviceCategory {
  mobile = 'mobile',
  desktop = 'desktop',
}

/**
 * Operating systems a fingerprint can be of.
 *
 * @example
 * const operatingSystems = [OperatingSystemsName.linux];
 */
export enum OperatingSystemsName {
  linux = 'linux',
  macos = 'macos',
  windows = 'windows',
  android = 'android',
  ios = 'ios',
}

/**
 * Statuses that retire a session.
 *
 * @example
 * const isBlocked = BLOCKED_STATUS_CODES.includes(403);
 */
export const BLOCKED_STATUS_CODES: readonly number[] = [401, 403, 429];
/**
 * The default size of a session pool.
 *
 * @example
 * const sessionPoolOptions = { maxPoolSize: MAX_POOL_SIZE / 2 };
 */
export const MAX_POOL_SIZE = 1_000;
/**
 * Where a session pool is saved.
 *
 * @example
 * const saved = await (await KeyValueStore.open()).getValue(PERSIST_STATE_KEY);
 */
export const PERSIST_STATE_KEY = 'SDK_SESSION_POOL_STATE';
/**
 * Emitted by a pool when a session is retired.
 *
 * @example
 * const name = EVENT_SESSION_RETIRED;
 */
export const EVENT_SESSION_RETIRED = 'sessionRetired';
