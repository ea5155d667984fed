// Reads EPUB: the chapters of a book in the order of its spine, as one page.
// Promise: links between chapters are left out, since they lead nowhere outside of the book.
import type { DocumentParts } from '../model.js';
import { parseUrl } from '../../request/url.js';
import { DocumentFailure } from '../model.js';
import { writeClean } from '../parts/clean.js';
import { writtenHtml } from '../parts/html.js';
import { openArchive } from '../parts/zip.js';
import {
  attributeNamed,
  attributeOf,
  childOf,
  elementsOf,
  findBelow,
  readHtmlTree,
  readXml,
  textBelow,
  type XmlElement,
} from '../parts/xml.js';
import { dateOf, partAt } from './office.js';

export function readEpub(bytes: Uint8Array): DocumentParts {
  const archive = openArchive(bytes);
  const container = readXml(archive.text('META-INF/container.xml') ?? '');
  const packagePath = attributeOf(findBelow(container, 'rootfile'), 'full-path');
  const text = packagePath === undefined ? undefined : archive.text(packagePath);
  if (text === undefined) throw new DocumentFailure('DOCUMENT_INVALID', 'the archive names no book');
  const folder = packagePath!.slice(0, packagePath!.lastIndexOf('/') + 1);
  const book = childOf(readXml(text), 'package');
  const chapters = chaptersOf(book, folder);
  const locked = lockedFiles(archive.text('META-INF/encryption.xml'));
  if (chapters.some((file) => locked.has(file))) {
    throw new DocumentFailure('DOCUMENT_ENCRYPTED', 'the book is locked by a digital rights system');
  }
  const body = writtenHtml((out) => {
    for (const [at, file] of chapters.entries()) {
      const chapter = archive.text(file);
      const content = chapter === undefined ? undefined : findBelow(readHtmlTree(chapter), 'body');
      if (!content) continue;
      out.tag(`<section data-page="${at + 1}">`);
      writeClean(content, parseUrl, out);
      out.tag('</section>');
    }
  });
  return { facts: factsOf(childOf(book, 'metadata')), body };
}

/** The files of the spine, without its table of contents. */
function chaptersOf(book: XmlElement | undefined, folder: string): string[] {
  const files = new Map<string, string>();
  for (const item of elementsOf(childOf(book, 'manifest') ?? readXml(''))) {
    const isPage = /xhtml|html/.test(attributeNamed(item, 'media-type') ?? '');
    const isContents = (attributeNamed(item, 'properties') ?? '').split(' ').includes('nav');
    const id = attributeNamed(item, 'id');
    const href = attributeNamed(item, 'href');
    if (!isPage || isContents || !id || !href) continue;
    files.set(id, partAt(folder, decoded(href)));
  }
  const chapters: string[] = [];
  for (const item of elementsOf(childOf(book, 'spine') ?? readXml(''))) {
    const file = files.get(attributeNamed(item, 'idref') ?? '');
    if (file !== undefined) chapters.push(file);
  }
  return [...new Set(chapters)];
}

function decoded(href: string): string {
  try {
    return decodeURIComponent(href.split('#', 1)[0]!);
  } catch {
    return href;
  }
}

/** What is encrypted; fonts often are, which hides no words. */
function lockedFiles(text: string | undefined): Set<string> {
  const files = new Set<string>();
  if (text === undefined) return files;
  const collect = (element: XmlElement): void => {
    for (const child of elementsOf(element)) {
      const uri = child.local === 'CipherReference' ? attributeOf(child, 'URI') : undefined;
      if (uri !== undefined) files.add(decoded(uri));
      collect(child);
    }
  };
  collect(readXml(text));
  return files;
}

function factsOf(metadata: XmlElement | undefined): DocumentParts['facts'] {
  const value = (local: string) => textBelow(childOf(metadata, local)).trim() || null;
  const modified = elementsOf(metadata ?? readXml('')).find(
    (meta) => attributeOf(meta, 'property') === 'dcterms:modified',
  );
  return {
    title: value('title'),
    author: value('creator'),
    description: value('description'),
    keywords: value('subject'),
    language: value('language'),
    createdAt: dateOf(value('date')),
    modifiedAt: dateOf(textBelow(modified).trim() || null),
  };
}
