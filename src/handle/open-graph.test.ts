// Open Graph properties in Crawlee's shape.
import { load } from 'cheerio';
import { describe, expect, it } from 'vitest';
import { parseOpenGraph } from './open-graph.js';

const PAGE = `<html><head>
  <meta property="og:title" content="Under Pressure"><meta property="og:type" content="music.song">
  <meta property="og:image" content="https://example.com/a.png"><meta property="og:image:width" content="640">
  <meta property="og:image:secure_url" content="https://example.com/b.png">
  <meta property="og:locale" content="en_US"><meta property="og:locale:alternate" content="cs_CZ">
  <meta property="og:locale:alternate" content="de_DE"><meta property="og:site_name" content="Radio &amp; more">
  <meta property="music:duration" content="236"><meta property="music:album" content="https://example.com/album">
  <meta property="music:album:track" content="2"><meta property="video:actor" content="A"><meta property="video:actor" content="B">
  <meta property="og:description" content=""><meta name="og:determiner" content="the"><meta property="og:audio">
</head></html>`;

const EXPECTED = {
  title: 'Under Pressure',
  type: 'music.song',
  image: { imageValue: 'https://example.com/a.png', secureUrl: 'https://example.com/b.png', width: '640' },
  locale: { localeValue: 'en_US', alternate: ['cs_CZ', 'de_DE'] },
  siteName: 'Radio & more',
  videoInfo: { actor: { actorValue: ['A', 'B'] } },
  musicInfo: { duration: '236', album: { albumValue: 'https://example.com/album', track: '2' } },
};

describe('parseOpenGraph', () => {
  it('nests properties, lists repeated ones and leaves empty ones out', () => {
    expect(parseOpenGraph(PAGE)).toEqual(EXPECTED);
  });

  it('takes a parsed document too', () => {
    expect(parseOpenGraph(load(PAGE))).toEqual(EXPECTED);
  });

  it('reads additional properties', () => {
    const html = '<meta property="fb:app_id" content="7"><meta property="fb:app_id:x" content="8">';
    const children = [{ name: 'fb:app_id:x', outputName: 'x', children: [] }];
    expect(parseOpenGraph(html, [{ name: 'fb:app_id', outputName: 'app', children }])).toEqual({
      app: { appValue: '7', x: '8' },
    });
  });

  it('is empty for a page without any', () => {
    expect(parseOpenGraph('<p>nothing</p>')).toEqual({});
    expect(parseOpenGraph('')).toEqual({});
  });
});
