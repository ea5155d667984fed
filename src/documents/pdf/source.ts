// The only place that calls pdf.js: opens a file and gives its pages as lists of drawing operations.
// Promise: pictures are not decoded, no script of the file runs, nothing is fetched; failures have codes.
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { DocumentFailure } from '../model.js';
import type { Box, Matrix } from './geometry.js';

export interface SourcePage {
  readonly width: number;
  readonly height: number;
  /** From the page's own coordinates to points from the top left corner, as a reader turns it. */
  readonly toPage: Matrix;
  readonly operations: readonly number[];
  readonly values: readonly (readonly unknown[])[];
  readonly links: readonly { readonly box: readonly number[]; readonly href: string }[];
  font(name: string): SourceFont | undefined;
}

export interface SourceFont {
  readonly name?: string;
  readonly vertical?: boolean;
  readonly fontMatrix?: readonly number[];
  readonly bold?: boolean;
  readonly italic?: boolean;
  readonly isMonospace?: boolean;
}

/** The numbers of operations, by their names. */
export type OperationNumbers = Readonly<Record<string, number>>;

export interface PdfSource {
  readonly pages: number;
  readonly numbers: OperationNumbers;
  readonly info: Readonly<Record<string, unknown>>;
  page(number: number): Promise<SourcePage>;
  close(): Promise<void>;
}

export type { Box };

export async function openPdf(bytes: Uint8Array): Promise<PdfSource> {
  fillIn();
  const pdfjs = await import('unpdf/pdfjs');
  const task = pdfjs.getDocument({
    // A Buffer is refused.
    data: new Uint8Array(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.length),
    isEvalSupported: false,
    disableFontFace: true,
    useSystemFonts: false,
    useWasm: false,
    enableXfa: false,
    maxImageSize: 0,
    stopAtErrors: false,
    verbosity: 0,
    ...characterMaps(),
  });
  const document = await task.promise.catch((error: unknown) => {
    throw failureOf(error);
  });
  const { info } = (await document.getMetadata().catch(() => ({ info: {} }))) as { info: Record<string, unknown> };
  return {
    pages: document.numPages,
    numbers: pdfjs.OPS as unknown as OperationNumbers,
    info,
    async page(number) {
      const page = await document.getPage(number);
      const viewport = page.getViewport({ scale: 1 });
      const { fnArray, argsArray } = await page.getOperatorList();
      const annotations = (await page.getAnnotations().catch(() => [])) as { url?: string; rect?: number[] }[];
      const fonts = page.commonObjs;
      page.cleanup();
      return {
        width: viewport.width,
        height: viewport.height,
        toPage: viewport.transform as unknown as Matrix,
        operations: fnArray,
        values: argsArray as readonly (readonly unknown[])[],
        links: annotations.flatMap(({ url, rect }) => (url && rect?.length === 4 ? [{ box: rect, href: url }] : [])),
        font: (name) => (fonts.has(name) ? (fonts.get(name) as SourceFont) : undefined),
      };
    },
    close: () => task.destroy(),
  };
}

function failureOf(error: unknown): unknown {
  const { name, message } = error as Error;
  if (name === 'PasswordException') {
    return new DocumentFailure('DOCUMENT_ENCRYPTED', 'the file is protected by a password');
  }
  if (error instanceof DocumentFailure) return error;
  return new DocumentFailure('DOCUMENT_INVALID', `the file is not a PDF that can be read: ${message?.slice(0, 200)}`);
}

/** Tables for fonts of Chinese, Japanese and Korean that are not in the file: from pdfjs-dist, where somebody installed it. */
function characterMaps(): object {
  try {
    const folder = dirname(createRequire(import.meta.url).resolve('pdfjs-dist/package.json'));
    const url = (name: string) => `${pathToFileURL(join(folder, name)).href}/`;
    return { cMapUrl: url('cmaps'), cMapPacked: true, standardFontDataUrl: url('standard_fonts') };
  } catch {
    return {};
  }
}

/** What pdf.js takes for granted, and Node 20 does not have. */
function fillIn(): void {
  const { prototype } = ArrayBuffer as unknown as { prototype: ArrayBuffer & { transferToFixedLength?: unknown } };
  prototype.transferToFixedLength ??= function (this: ArrayBuffer, length: number = this.byteLength): ArrayBuffer {
    const copy = new ArrayBuffer(length);
    new Uint8Array(copy).set(new Uint8Array(this, 0, Math.min(length, this.byteLength)));
    return copy;
  };
}
