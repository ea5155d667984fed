// Browsers, their contexts and pages: lent to one visit at a time and taken back, whatever the visit did.
// Promise: every page is closed or kept when its visit ends; crashed, hung and worn-out browsers are replaced; after
// close() no page, context, process or temporary folder is left.
import { CrawlError } from '../../errors.js';
import { endsWithin } from './deadline.js';
import { createGuardRelay, type GuardRelay } from './guard-relay.js';
import { launchBrowser, proxyOf, type RunningBrowser } from './launch.js';
import type { PooledPage } from './page-lease.js';
import type { BrowserContext, BrowserContextOptions } from './playwright-types.js';
import { type BrowserPoolCounts, type BrowserPoolOptions, resolvePoolOptions } from './pool-options.js';
import { guardByRoutes, guardRedirects } from './route-guard.js';
import { openRoom, type Room } from './rooms.js';

export type { BrowserPoolCounts, BrowserPoolOptions } from './pool-options.js';

export interface PageAsk {
  /** Who visits: pages of one identity share cookies and storages. Undefined: a stranger, who shares nothing. */
  readonly identity?: string;
  /** A proxy of the user, through which all connections of the identity go. */
  readonly proxyUrl?: string;
  /** Of the context, if one has to be made. */
  readonly contextOptions?: BrowserContextOptions;
  /** Called with a new context of the identity before its first page. */
  readonly prepare?: (context: BrowserContext) => Promise<void>;
}

export type LentPage = PooledPage;

export interface BrowserPool {
  /** A page, the borrower's until it is given back. */
  take(ask: PageAsk): Promise<LentPage>;
  /** `isGood` false: whatever happened, the page is not to be lent again. Never rejects. */
  giveBack(lent: LentPage, isGood: boolean): Promise<void>;
  /** Lends a page for as long as `use` runs. */
  lend<T>(ask: PageAsk, use: (lent: LentPage) => Promise<T>): Promise<T>;
  /** Starts a browser now if none runs: what is wrong with it shows here. */
  warmUp(): Promise<void>;
  /** Forgets an identity: its context is closed when its last page is back. */
  forget(identity: string): Promise<void>;
  readonly relay: GuardRelay | undefined;
  readonly counts: BrowserPoolCounts;
  close(): Promise<void>;
}

/** A browser and what is open in it. */
interface House {
  readonly running: RunningBrowser;
  readonly rooms: Set<Room>;
  /** Pages lent or being opened. */
  lent: number;
  served: number;
  isRetired: boolean;
  idleSinceMs: number;
}

const SWEEP_MS = 1_000;

export function createBrowserPool(given: BrowserPoolOptions): BrowserPool {
  const options = resolvePoolOptions(given);
  const { launch, guard } = options;
  // A browser elsewhere cannot reach a relay on this machine's loopback.
  const isRemote =
    launch.cdpUrl !== undefined && !/^(?:https?|wss?):\/\/(?:127\.|localhost|\[::1\])/.test(launch.cdpUrl);
  const browserPort = launch.cdpUrl === undefined || isRemote ? undefined : Number(new URL(launch.cdpUrl).port);
  const relay = guard === false ? undefined : createGuardRelay({ ...guard, browserPort });
  const houses = new Set<House>();
  const homes = new Map<Room, House>();
  const roomOf = new WeakMap<LentPage, Room>();
  const closings = new Set<Promise<unknown>>();
  let starting: Promise<House> | undefined;
  let launches = 0;
  let lentPages = 0;
  let isClosed = false;
  let sweeper: NodeJS.Timeout | undefined;

  async function startHouse(): Promise<House> {
    const server = relay && !isRemote ? await relay.serverFor(undefined) : undefined;
    await options.beforeLaunch?.();
    const running = await launchBrowser(launch, server);
    launches++;
    const house: House = { running, rooms: new Set(), lent: 0, served: 0, isRetired: false, idleSinceMs: now() };
    houses.add(house);
    running.onGone(() => {
      house.isRetired = true;
      for (const room of house.rooms) homes.delete(room);
      house.rooms.clear();
      if (houses.delete(house)) track(running.close());
    });
    if (isClosed) await closeHouse(house);
    await options.onLaunch?.({ pid: running.pid, version: running.version });
    sweeper ??= setInterval(sweep, SWEEP_MS).unref();
    return house;
  }

  /** A browser with room for one more page; its seat is taken when this returns. */
  async function seat(): Promise<House> {
    for (;;) {
      if (isClosed) throw new CrawlError('ABORTED', 'the browsers are closed');
      for (const house of houses) {
        const isOpen =
          !house.isRetired && (launch.userDataDir !== undefined || house.lent < options.maxOpenPagesPerBrowser);
        if (!isOpen) continue;
        house.lent++;
        return house;
      }
      starting ??= startHouse().finally(() => (starting = undefined));
      await starting;
    }
  }

  async function take(ask: PageAsk): Promise<LentPage> {
    if (isClosed) throw new CrawlError('ABORTED', 'the browsers are closed');
    const key = keyOf(ask, launch.userDataDir !== undefined);
    const known = keptRoom(key);
    const house = known ? homes.get(known)! : await seat();
    if (known) house.lent++;
    lentPages++;
    let room = known;
    try {
      room ??= keptRoom(key, house) ?? (await addRoom(house, key, ask));
      room.lent++;
      const lent = await room.takePage();
      roomOf.set(lent, room);
      return lent;
    } catch (error) {
      lentPages--;
      house.lent--;
      if (room) room.lent--;
      // A browser that opens no page is of no use to anybody.
      house.isRetired = true;
      await settle(house);
      throw error;
    }
  }

  /** A room that may be used: of its identity, or one for strangers that is empty. */
  function keptRoom(key: string, within?: House): Room | undefined {
    for (const house of within ? [within] : houses) {
      if (house.isRetired) continue;
      for (const room of house.rooms) {
        if (room.key !== key || room.isClosed) continue;
        if (room.identity !== undefined || launch.userDataDir !== undefined || room.lent === 0) return room;
      }
    }
    return undefined;
  }

  async function addRoom(house: House, key: string, ask: PageAsk): Promise<Room> {
    const isGuardedByRoutes = relay !== undefined && isRemote;
    const proxy =
      relay && !isRemote && (ask.proxyUrl !== undefined || launch.cdpUrl !== undefined)
        ? { server: await relay.serverFor(ask.proxyUrl) }
        : relay || ask.proxyUrl === undefined
          ? undefined
          : proxyOf(ask.proxyUrl);
    const room = await openRoom({
      key,
      identity: ask.identity,
      running: house.running,
      contextOptions: { ...launch.contextOptions, ...ask.contextOptions, ...(proxy && { proxy }) },
      onPage: async (page, context) => {
        if (isGuardedByRoutes) await guardRedirects(page, context, relay);
        await options.onPage?.(page, context);
      },
      prepare: async (context) => {
        if (isGuardedByRoutes) await guardByRoutes(context, relay);
        await ask.prepare?.(context);
      },
    });
    house.rooms.add(room);
    homes.set(room, house);
    return room;
  }

  async function giveBack(lent: LentPage, isGood: boolean): Promise<void> {
    const room = roomOf.get(lent);
    if (!room) return;
    roomOf.delete(lent);
    const house = homes.get(room);
    try {
      if (!house || house.running.isGone) return;
      house.served++;
      if (house.served >= options.retireAfterPages) house.isRetired = true;
      const isKept =
        isGood &&
        options.reusePages &&
        (room.identity !== undefined || options.keepStrangers) &&
        !lent.isSpoiled &&
        !lent.isGone &&
        !house.isRetired &&
        !isClosed;
      // A page whose process died or hangs may not close either: then the browser goes when its other visits ended.
      const isTidy = isKept ? await keep(room, lent) : await discard(room, lent);
      if (!isTidy) house.isRetired = true;
    } finally {
      lentPages--;
      room.lent--;
      room.idleSinceMs = now();
      if (house) {
        house.lent--;
        house.idleSinceMs = now();
        await settle(house);
      }
    }
  }

  async function keep(room: Room, pooled: PooledPage): Promise<boolean> {
    if (await room.keepPage(pooled)) return true;
    return room.identity === undefined ? closeRoom(room) : true;
  }

  /** With the page of a stranger goes all that it stored. */
  async function discard(room: Room, pooled: PooledPage): Promise<boolean> {
    if (room.identity === undefined && launch.userDataDir === undefined) return closeRoom(room);
    return room.closePage(pooled);
  }

  async function closeRoom(room: Room): Promise<boolean> {
    homes.get(room)?.rooms.delete(room);
    homes.delete(room);
    return room.close();
  }

  /** Closes a browser that is worn out and that nobody uses any more. */
  async function settle(house: House): Promise<void> {
    if (house.isRetired && house.lent <= 0) await closeHouse(house);
  }

  async function closeHouse(house: House): Promise<void> {
    house.isRetired = true;
    houses.delete(house);
    for (const room of house.rooms) homes.delete(room);
    house.rooms.clear();
    await house.running.close();
  }

  function track(work: Promise<unknown>): void {
    const tracked = work.catch(() => undefined).finally(() => closings.delete(tracked));
    closings.add(tracked);
  }

  function sweep(): void {
    const nowMs = now();
    const idle: Room[] = [];
    for (const house of houses) {
      if (house.lent > 0) {
        house.idleSinceMs = nowMs;
      } else if (nowMs - house.idleSinceMs >= options.closeIdleBrowserMs) {
        track(closeHouse(house));
        continue;
      }
      for (const room of house.rooms) if (room.lent === 0) idle.push(room);
    }
    idle.sort((a, b) => a.idleSinceMs - b.idleSinceMs);
    idle.forEach((room, index) => {
      const isTooMany = idle.length - index > options.maxIdleContexts;
      if (isTooMany || nowMs - room.idleSinceMs >= options.closeIdleContextMs) track(closeRoom(room));
    });
  }

  return {
    take,
    giveBack,
    async lend(ask, use) {
      const lent = await take(ask);
      let isGood = false;
      try {
        const result = await use(lent);
        isGood = true;
        return result;
      } finally {
        await giveBack(lent, isGood);
      }
    },
    async warmUp() {
      const house = await seat();
      house.lent--;
    },
    async forget(identity) {
      for (const [room] of homes) {
        if (room.identity === identity && room.lent === 0) await closeRoom(room);
      }
    },
    relay,
    get counts() {
      let contexts = 0;
      let pages = 0;
      for (const room of homes.keys()) {
        contexts++;
        pages += room.isClosed ? 0 : room.context.pages().length;
      }
      return { browsers: houses.size, contexts, pages, lent: lentPages, launches };
    },
    async close() {
      isClosed = true;
      clearInterval(sweeper);
      await starting?.catch(() => undefined);
      await Promise.all([...houses].map(closeHouse));
      await endsWithin(15_000, Promise.all(closings));
      await relay?.close();
    },
  };
}

function keyOf({ identity, proxyUrl = '' }: PageAsk, isProfile: boolean): string {
  if (isProfile) return '';
  return identity === undefined ? `?${proxyUrl}` : `!${identity} ${proxyUrl}`;
}

const now = (): number => performance.now();
