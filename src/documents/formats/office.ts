// What the files of Office share: relations between parts, the core properties, encryption.
import type { DocumentFacts } from '../model.js';
import { DocumentFailure } from '../model.js';
import { openArchive, type Archive } from '../parts/zip.js';
import { attributeNamed, elementsOf, readXml, textBelow, childOf } from '../parts/xml.js';

/** What Office writes around a file that has a password: an archive of the 1990s. */
const OLD_ARCHIVE = Buffer.from('d0cf11e0a1b11ae1', 'hex');
const ENCRYPTED = Buffer.from('EncryptedPackage', 'utf16le');

export function openOffice(bytes: Uint8Array): Archive {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  if (file.subarray(0, 8).equals(OLD_ARCHIVE)) {
    throw file.includes(ENCRYPTED)
      ? new DocumentFailure('DOCUMENT_ENCRYPTED', 'the file is protected by a password')
      : new DocumentFailure('DOCUMENT_INVALID', 'the file has the binary format of Office before 2007');
  }
  return openArchive(bytes);
}

/** The part of a file that everything starts from. */
export function mainPart(archive: Archive, usual: string): string {
  const target = relationsOf(archive, '').byType.get('officeDocument')?.[0];
  if (target !== undefined && archive.has(target)) return target;
  if (archive.has(usual)) return usual;
  throw new DocumentFailure('DOCUMENT_INVALID', `the archive has no ${usual}`);
}

/** Of one kind. */
const MAX_PARTS = 1_000;

export interface Relations {
  /** Where each id leads: a part of the archive, or an address. */
  readonly byId: ReadonlyMap<string, string>;
  /** Parts by the last word of their relation's type. */
  readonly byType: ReadonlyMap<string, readonly string[]>;
}

/** The relations of a part; of the archive itself with ''. */
export function relationsOf(archive: Archive, part: string): Relations {
  const slash = part.lastIndexOf('/') + 1;
  const text = archive.text(`${part.slice(0, slash)}_rels/${part.slice(slash)}.rels`);
  const byId = new Map<string, string>();
  const byType = new Map<string, string[]>();
  const root = text === undefined ? undefined : childOf(readXml(text), 'Relationships');
  for (const relation of root ? elementsOf(root) : []) {
    const id = attributeNamed(relation, 'Id');
    const target = attributeNamed(relation, 'Target');
    const type = attributeNamed(relation, 'Type');
    const mode = attributeNamed(relation, 'TargetMode');
    if (id === undefined || target === undefined) continue;
    const to = mode === 'External' ? target : partAt(part.slice(0, slash), target);
    byId.set(id, to);
    const kind = type?.slice(type.lastIndexOf('/') + 1) ?? '';
    const parts = byType.get(kind);
    if (parts === undefined) byType.set(kind, [to]);
    else if (parts.length < MAX_PARTS) parts.push(to);
  }
  return { byId, byType };
}

/** The name of a part that another names from its folder. */
export function partAt(folder: string, target: string): string {
  const whole = target.startsWith('/') ? target.slice(1) : `${folder}${target}`;
  const steps: string[] = [];
  for (const step of whole.split('/')) {
    if (step === '..') steps.pop();
    else if (step !== '.' && step !== '') steps.push(step);
  }
  return steps.join('/');
}

/** Title, author and dates, as docProps/core.xml has them. */
export function corePropertiesOf(archive: Archive): Partial<DocumentFacts> {
  const text = archive.text('docProps/core.xml');
  const root = text === undefined ? undefined : elementsOf(readXml(text))[0];
  const value = (local: string) => textBelow(childOf(root, local)).trim() || null;
  return {
    title: value('title'),
    author: value('creator'),
    description: value('description') ?? value('subject'),
    keywords: value('keywords'),
    language: value('language'),
    createdAt: dateOf(value('created')),
    modifiedAt: dateOf(value('modified')),
  };
}

export function dateOf(text: string | null): string | null {
  return text !== null && /^\d{4}-\d{2}-\d{2}/.test(text) ? text : null;
}
