// What is left out as the comments of an article.
import { describe, expect, it } from 'vitest';
import { viewPage } from '../../crawl/page/extraction.js';
import { commentNodes, holdsPosts, leaveComments } from './comments.js';

/** The texts whose logits fall. */
function left(html: string): string[] {
  const view = viewPage(html);
  const logits = new Float32Array(view.segments.count).fill(1);
  const comments = commentNodes(view.segments);
  if (comments !== null) leaveComments(view.segments, comments, logits);
  return Array.from({ length: view.segments.count }, (_, b) => b)
    .filter((b) => logits[b]! < 0)
    .map((b) => view.blockText(b));
}

const article = `<h1>Title</h1><p>${'Words of the article. '.repeat(40)}</p>`;
const remark =
  'What a lovely text this is, and how well the garden stands in it, thank you for writing it all down so plainly for us.';

describe('leaveComments', () => {
  it('knows them by the names that blogs and comment software give them', () => {
    for (const name of [
      'id="comments"',
      'class="comment-list"',
      'class="commentlist"',
      'id="disqus_thread"',
      'class="post-comments"',
    ])
      expect(left(`${article}<div ${name}><p>${remark}</p></div><p>After</p>`), name).toEqual([remark]);
  });

  it('keeps them where the page has no text of its own', () => {
    expect(left(`<h1>Title</h1><div id="comments"><p>${remark}</p></div>`)).toEqual([]);
  });

  it('keeps what buyers say, what holds the heading, and a word in passing', () => {
    expect(left(`${article}<div id="reviews"><ol class="commentlist"><li>${remark}</ol></div>`)).toEqual([]);
    expect(left(`<div class="has comments open">${article}<p>${remark}</p></div>`)).toEqual([]);
    expect(left(`${article}<p class="comments-link">No comments yet</p>`)).toEqual([]);
  });

  it('tells the posts of forum software from the comments of a blog', () => {
    const posts = (name: string): boolean => {
      const { segments } = viewPage(
        `${article}<div id="comments">${`<div class="${name}">${remark}</div>`.repeat(2)}</div>`,
      );
      return holdsPosts(segments, commentNodes(segments)!);
    };
    expect(posts('md-div')).toBe(true);
    expect(posts('comment-content')).toBe(false);
  });
});
