// Which blocks of a thread are weighed as the text of its posts.
import { describe, expect, it } from 'vitest';
import { viewPage } from '../../crawl/page/extraction.js';
import { weighPosts } from './posts.js';

/** The texts whose logits rise from zero; `null` where nothing changes. */
function weighed(html: string): string[] | null {
  const view = viewPage(html);
  const { segments } = view;
  const logits = new Float32Array(segments.count);
  weighPosts(segments, logits);
  if (logits.every((logit) => logit === 0)) return null;
  return Array.from({ length: segments.count }, (_, b) => b)
    .filter((b) => logits[b]! > 0)
    .map((b) => view.blockText(b));
}

const post = (
  k: number,
): string => `<article class="message"><div class="message-userDetails"><h4 class="message-name">ada${k}</h4>
  <div class="userTitle">Member</div><div>Joined <time>Mar 3, 2019</time></div></div>
  <header class="message-attribution"><time>Jul ${k}, 2024</time></header><div>#${k}</div><div class="bbWrapper">Text of post ${k}<p>and more of it</p></div>
  <aside class="message-signature"><div class="bbWrapper">Life is short</div></aside></article>`;

describe('weighPosts', () => {
  it('raises the texts of posts, who wrote them and when, not titles of members and signatures', () => {
    expect(weighed(`<h1>Thread</h1>${post(1)}${post(2)}<ul class="similarThreads"><li>Another thread</ul>`)).toEqual([
      ...['ada1', 'Jul 1, 2024', 'Text of post 1', 'and more of it'],
      ...['ada2', 'Jul 2, 2024', 'Text of post 2', 'and more of it'],
    ]);
  });

  it('takes the first line of each kind before the text, in one line or two, wherever the text is named', () => {
    const html = (k: number): string =>
      `<div class="post"><div class="postbody"><h3>Re: Thread</h3><p class="author">by ada${k} on 2024-07-0${k} 10:15</p>
       <div class="content">Text ${k}</div><div class="notice">Last edited 2024-07-09</div></div></div>`;
    expect(weighed(`<p class="author">by the site on 2024-01-01</p>${html(1)}${html(2)}`)).toEqual([
      ...['by ada1 on 2024-07-01 10:15', 'Text 1', 'Last edited 2024-07-09'],
      ...['by ada2 on 2024-07-02 10:15', 'Text 2', 'Last edited 2024-07-09'],
    ]);
  });

  it('reads a name however it is spelled, and what schema.org calls text', () => {
    const page =
      '<div class="post-body">One</div><div id="postBody2">Two</div><div itemprop="text">Three</div><p>Four</p>';
    expect(weighed(page)).toEqual(['One', 'Two', 'Three']);
    expect(weighed('<div class="post"><b class="body">One</b></div><div class="post body">Two</div>')).toBeNull();
  });

  it('leaves out what the software says in a post of its own', () => {
    const closed = 'This topic was automatically closed after 30 days. New replies are no longer allowed.';
    const page = ['One', 'Two', closed].map((text) => `<div class="cooked"><p>${text}</p></div>`).join('');
    expect(weighed(page)).toEqual(['One', 'Two']);
  });

  it('lowers a quotation of what stands further up, and no other', () => {
    const said = 'The valve is under the sink behind the blue pipe';
    const view = viewPage(
      `<div class="postbody"><p>${said}</p></div>` +
        `<div class="postbody"><blockquote>Ada wrote: ${said}</blockquote><p>Found it</p></div>` +
        '<div class="postbody"><blockquote>All things must pass, says an old song of theirs</blockquote></div>',
    );
    const logits = new Float32Array(view.segments.count);
    weighPosts(view.segments, logits);
    expect([...logits]).toEqual([2.5, -5.5, 2.5, 2.5]);
  });

  it('lowers the line that says whom a left-out quotation is of, in it or just before it', () => {
    const said = 'The valve is under the sink behind the blue pipe';
    const quoting = (quote: string): number[] => {
      const view = viewPage(
        `<div class="postbody"><p>${said}</p></div><div class="postbody">${quote}<p>Found it</p></div>`,
      );
      const logits = new Float32Array(view.segments.count);
      weighPosts(view.segments, logits);
      return [...logits];
    };
    const lowered = [2.5, -5.5, -5.5, 2.5];
    expect(quoting(`<aside class="quote"><div>ada:</div><blockquote><p>${said}</p></blockquote></aside>`)).toEqual(
      lowered,
    );
    expect(quoting(`<div class="quotebody"><div>Originally posted by ada</div><p>${said}</p></div>`)).toEqual(lowered);
    // A text of its own within the quotation stays.
    expect(quoting(`<blockquote><p>Most active developers</p><p>${said}</p></blockquote>`)).toEqual([
      2.5, 2.5, -5.5, 2.5,
    ]);
  });

  it('leaves a page alone on which fewer than two posts are named', () => {
    expect(weighed(`<h1>Thread</h1>${post(1)}<p>Something else</p>`)).toBeNull();
    expect(weighed('')).toBeNull();
  });
});
