import { describe, expect, it } from 'vitest';
import type { Capture } from '../../fetch/engine.js';
import { forbidsFollowing, isNofollow } from './nofollow.js';

const page = (tag?: string | string[]) => ({ headers: tag === undefined ? {} : { 'x-robots-tag': tag } }) as Capture;

describe('links of a page', () => {
  it('are not followed when its meta says so', () => {
    for (const meta of ['nofollow', 'NOINDEX, NoFollow', 'none', 'noindex,none']) {
      expect(forbidsFollowing(page(), meta, 'bot'), meta).toBe(true);
    }
    for (const meta of [null, '', 'noindex', 'follow', 'nofollowing', 'x-none']) {
      expect(forbidsFollowing(page(), meta, 'bot'), String(meta)).toBe(false);
    }
  });

  it('are not followed when X-Robots-Tag says so to everybody or to us', () => {
    const agent = 'Mozilla/5.0 (compatible; OurBot/1.0)';
    const forbidding = ['nofollow', 'noindex, nofollow', 'ourbot: nofollow', 'otherbot: noindex, ourbot: none'];
    for (const tag of forbidding) expect(forbidsFollowing(page(tag), null, agent), tag).toBe(true);
    const allowing = ['noindex', 'otherbot: nofollow', 'otherbot: noindex, nofollow', 'max-snippet: 10, noindex'];
    for (const tag of allowing) expect(forbidsFollowing(page(tag), null, agent), tag).toBe(false);
    expect(forbidsFollowing(page(['noindex', 'nofollow']), null, agent)).toBe(true);
    expect(forbidsFollowing(page('unavailable_after: 25 Jun 2030 15:00:00 PST, nofollow'), null, agent)).toBe(true);
  });

  it('are not followed when their rel says so', () => {
    expect(['nofollow', 'external NOFOLLOW', 'nofollow ugc'].every(isNofollow)).toBe(true);
    expect(['', 'follow', 'noopener', 'x-nofollow', 'nofollowed'].some(isNofollow)).toBe(false);
  });
});
