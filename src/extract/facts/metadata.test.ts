import { describe, expect, it } from 'vitest';
import { extractContent, extractMetadata } from '../../crawl/page/extraction.js';
import { writtenDate } from './dates.js';
import { detectLanguage } from './language.js';

const LD = (value: object) => `<script type="application/ld+json">${JSON.stringify(value)}</script>`;
const URL_ = 'https://sea.example/a/orcas';

describe('metadata', () => {
  it('says which source gave author, dates and language', () => {
    const article = {
      '@type': 'NewsArticle',
      author: { name: 'Ada Marsh' },
      datePublished: '2024-05-03T10:00:00Z',
      dateModified: '2024-05-04',
      license: { url: 'https://creativecommons.org/licenses/by/4.0/' },
      image: [{ '@type': 'ImageObject', url: '/wide.jpg', width: 1200, height: { value: '630' } }, '/small.jpg'],
    };
    const page = `<html lang=en><head>${LD(article)}<meta property="og:image" content="/og.jpg"><meta property="og:image:width" content="800"></head><body><h1>Orcas</h1></body></html>`;
    expect(extractMetadata(page, { url: URL_ })).toMatchObject({
      author: 'Ada Marsh',
      publishedAt: '2024-05-03T10:00:00.000Z',
      modifiedAt: '2024-05-04',
      license: 'https://creativecommons.org/licenses/by/4.0/',
      sources: { author: 'json-ld', publishedAt: 'json-ld', modifiedAt: 'json-ld', language: 'markup' },
      images: [
        { url: 'https://sea.example/og.jpg', width: 800, height: null },
        { url: 'https://sea.example/wide.jpg', width: 1200, height: 630 },
        { url: 'https://sea.example/small.jpg', width: null, height: null },
      ],
    });
  });

  it('finds them without JSON-LD: in meta elements, microdata, time elements and the text', () => {
    const meta = '<meta name=author content="Ada Marsh"><meta property="article:modified_time" content="2024-05-04">';
    const shown = '<h1>Orcas</h1><meta itemprop=datePublished content="2024-05-03">';
    expect(extractMetadata(meta + shown)).toMatchObject({
      publishedAt: '2024-05-03',
      modifiedAt: '2024-05-04',
      sources: { author: 'meta', publishedAt: 'markup', modifiedAt: 'meta', language: null },
    });
    const times =
      '<h1>Orcas</h1><time class="entry-updated" datetime="2024-06-01">June</time><time datetime="2024-05-03">May</time>';
    expect(extractMetadata(times)).toMatchObject({ publishedAt: '2024-05-03', modifiedAt: '2024-06-01' });
    const text =
      '<h1>Orcas</h1><p>3. Mai 2024, von Ada Marsh</p><p>Aktualisiert am 4. Juni 2024</p><p>Der Wal und das Meer.</p>';
    expect(extractMetadata(text)).toMatchObject({
      publishedAt: '2024-05-03',
      modifiedAt: '2024-06-04',
      sources: { publishedAt: 'text', modifiedAt: 'text' },
    });
  });

  it('has the licence of a link, and sizes of the images of the content', () => {
    const prose = 'Orcas hunt in pods and share what they catch, which takes years to learn. '.repeat(8);
    const page = `<article><h1>Orcas</h1><p>${prose}</p><img src="/a.jpg" alt="An orca" width="640" height="480px"><p>${prose}</p></article><footer><a rel="license nofollow" href="/licence">CC</a></footer>`;
    expect(extractMetadata(page, { url: URL_ }).license).toBe('https://sea.example/licence');
    const { images, modifiedAt } = extractContent(page, { url: URL_ });
    expect(images).toEqual([{ url: 'https://sea.example/a.jpg', alt: 'An orca', width: 640, height: 480 }]);
    expect(modifiedAt).toBeNull();
  });

  it('detects the language of the text where the page does not say it', () => {
    const german =
      'Der Wal ist nicht ein Fisch, und er lebt mit den anderen in der See, die sich im Winter nach Norden zieht.';
    expect(extractMetadata(`<h1>Wale</h1><p>${german}</p>`)).toMatchObject({
      language: 'de',
      sources: { language: 'text' },
    });
    expect(extractMetadata(`<html lang=nl><h1>Wale</h1><p>${german}</p>`).language).toBe('nl');
  });
});

describe('the language of a text', () => {
  it.each([
    ['en', 'The whale is not a fish, and it lives with the others in the sea that is cold for most of the year.'],
    ['fr', 'La baleine ne vit pas seule : elle est dans un groupe qui chasse avec les autres pour que tous mangent.'],
    [
      'es',
      'La ballena no vive sola, sino que caza con las otras del grupo para que todas coman en el mar y por la noche.',
    ],
    [
      'pt',
      'A baleia não vive sozinha, mas caça com as outras do grupo para que todas comam no mar e pela noite, como foi dito.',
    ],
    [
      'it',
      'La balena non vive da sola, ma caccia con le altre del gruppo, che sono anche più forti nella notte e nel mare.',
    ],
    [
      'nl',
      'De walvis is niet alleen, maar jaagt met de anderen van het gezin, dat ook in de winter naar het noorden gaat.',
    ],
    ['pl', 'Orka nie jest sama i poluje z innymi, które są w grupie, ale tylko po to, że tak jest łatwiej dla nich.'],
    ['ru', 'Косатка живёт не одна, а в семье, которая охотится вместе и делит добычу.'],
    ['uk', 'Косатка живе не сама, а в сім’ї, яка полює разом і ділить здобич.'],
    ['zh', '虎鲸不是独自生活的，它们和家人一起捕猎，并且分享它们捕到的一切食物。'],
    ['ja', 'シャチは一頭で暮らすのではなく、家族と一緒に狩りをして獲物を分け合います。'],
    ['ar', 'لا تعيش الأوركا وحدها بل في أسرة تصطاد معا وتتقاسم ما تصطاده من البحر'],
  ])('%s', (language, text) => {
    expect(detectLanguage(text)).toBe(language);
  });

  it('is none of a short text, of numbers, or of a list of names', () => {
    expect(detectLanguage('Orca')).toBeNull();
    expect(detectLanguage('12 34 56 '.repeat(200))).toBeNull();
    expect(detectLanguage('Ada Marsh, Bo Lind, Cy Reed, Di Holm, Ed Frost, Flo West, Gus East')).toBeNull();
  });
});

it('dates in words are days, and ambiguous ones are none', () => {
  expect(writtenDate('Posted on May 3rd, 2024 by Ada')).toBe('2024-05-03');
  expect(writtenDate('3 de mayo de 2024')).toBe('2024-05-03');
  expect(writtenDate('3. März 2024')).toBe('2024-03-03');
  expect(writtenDate('le 1er août 2023 à 10 h')).toBe('2023-08-01');
  expect(writtenDate('2024年5月3日')).toBe('2024-05-03');
  expect(writtenDate('03.05.2024')).toBe('2024-05-03');
  expect(writtenDate('25/12/2023')).toBe('2023-12-25');
  expect(writtenDate('03/05/2024')).toBeNull();
  expect(writtenDate('31 February 2024')).toBeNull();
  expect(writtenDate('Version 12.14.2020.1')).toBeNull();
});
