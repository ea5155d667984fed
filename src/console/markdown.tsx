// Markdown of a page as elements of this page. There is no step through HTML: every text becomes a text node.
// Promise: nothing of it runs, loads or sends anything: tags are shown as text, images as their names, and links lead to
// http and https only, without a referrer. One pass per line; what is longer than the limit is cut.
import type { ComponentChildren, JSX } from 'preact';

const MAX_CHARACTERS = 300_000;
const MAX_DEPTH = 6;
const MAX_INLINE = 20_000;

export function Markdown({ text }: { text: string }): JSX.Element {
  const isCut = text.length > MAX_CHARACTERS;
  const lines = (isCut ? text.slice(0, MAX_CHARACTERS) : text).split('\n');
  return (
    <div class="markdown">
      {blocks(lines, 0)}
      {isCut && <p class="cut">The rest of this page is not shown here. Download it to read all of it.</p>}
    </div>
  );
}

function blocks(lines: readonly string[], depth: number): ComponentChildren[] {
  const out: ComponentChildren[] = [];
  let at = 0;
  const takeWhile = (fits: (line: string) => boolean): string[] => {
    const taken: string[] = [];
    while (at < lines.length && fits(lines[at]!)) taken.push(lines[at++]!);
    return taken;
  };
  while (at < lines.length) {
    const line = lines[at]!;
    const trimmed = line.trim();
    const fence = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    const heading = /^ {0,3}(#{1,6}) +/.exec(line);
    if (trimmed === '') at++;
    else if (fence !== undefined) {
      at++;
      const body = takeWhile((one) => !one.trim().startsWith(fence));
      at++;
      out.push(
        <pre tabIndex={0}>
          <code>{body.join('\n')}</code>
        </pre>,
      );
    } else if (heading) {
      at++;
      const Tag = `h${Math.min(6, heading[1]!.length + 2)}` as 'h3';
      out.push(<Tag>{inline(withoutClosing(line.slice(heading[0].length)))}</Tag>);
    } else if (/^(?:-{3,}|\*{3,}|_{3,})$/.test(trimmed.replaceAll(' ', ''))) {
      at++;
      out.push(<hr />);
    } else if (trimmed.startsWith('>') && depth < MAX_DEPTH) {
      const quoted = takeWhile((one) => one.trim().startsWith('>')).map((one) => one.trim().slice(1).replace(/^ /, ''));
      out.push(<blockquote>{blocks(quoted, depth + 1)}</blockquote>);
    } else if (isItem(line) && depth < MAX_DEPTH) out.push(list());
    else if (trimmed.startsWith('|') && isRule(lines[at + 1])) out.push(table());
    else {
      const words = [lines[at++]!, ...takeWhile((one) => one.trim() !== '' && !startsBlock(one))];
      out.push(<p>{inline(words.join('\n'))}</p>);
    }
  }
  return out;

  function list(): ComponentChildren {
    const indent = indentOf(lines[at]!);
    const isOrdered = /^\s*\d/.test(lines[at]!);
    const items: ComponentChildren[] = [];
    while (at < lines.length && isItem(lines[at]!) && indentOf(lines[at]!) >= indent) {
      const first = lines[at++]!.replace(/^\s*(?:[-*+]|\d{1,9}[.)])\s?/, '');
      const rest = takeWhile((one) => (one.trim() === '' ? false : indentOf(one) > indent));
      const inner = [first, ...rest.map((one) => one.slice(Math.min(indentOf(one), indent + 2)))];
      items.push(<li>{inner.length === 1 ? inline(first) : blocks(inner, depth + 1)}</li>);
      if (lines[at]?.trim() === '' && at + 1 < lines.length && isItem(lines[at + 1]!)) at++;
    }
    return isOrdered ? <ol>{items}</ol> : <ul>{items}</ul>;
  }

  function table(): ComponentChildren {
    const rows = takeWhile((one) => one.trim().startsWith('|')).map(cellsOf);
    const [head = [], , ...body] = rows;
    return (
      <div class="table-scroll" tabIndex={0} role="region" aria-label="Table">
        <table>
          <thead>
            <tr>
              {head.map((cell) => (
                <th scope="col">{inline(cell)}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {body.map((row) => (
              <tr>
                {row.map((cell) => (
                  <td>{inline(cell)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    );
  }
}

const indentOf = (line: string): number => line.length - line.trimStart().length;
const isItem = (line: string): boolean => /^\s*(?:[-*+]|\d{1,9}[.)])\s/.test(line);
const startsBlock = (line: string): boolean => /^ {0,3}(?:#{1,6} |`{3}|~{3}|>|\|)/.test(line) || isItem(line);
const isRule = (line: string | undefined): boolean =>
  line !== undefined && /^[\s|:-]+$/.test(line) && line.includes('-');

function withoutClosing(text: string): string {
  let end = text.trimEnd().length;
  while (end > 0 && text[end - 1] === '#') end--;
  return text.slice(0, end).trimEnd();
}

function cellsOf(line: string): string[] {
  const cells = line.trim().replace(/^\|/, '').split('|');
  if (cells.at(-1)?.trim() === '') cells.pop();
  return cells.slice(0, 50).map((cell) => cell.trim());
}

const MARK = /[\\`*_~![<h]/g;

/** The text of one block: code, emphasis, links and images; everything else is text. */
function inline(text: string, depth = 0): ComponentChildren[] {
  if (text.length > MAX_INLINE || depth > 4) return [text];
  const out: ComponentChildren[] = [];
  let from = 0;
  MARK.lastIndex = 0;
  const put = (until: number): void => void (until > from && out.push(text.slice(from, until)));
  for (let found = MARK.exec(text); found; found = MARK.exec(text)) {
    const at = found.index;
    const [end, piece] = pieceAt(text, at, depth);
    if (end === at) continue;
    put(at);
    out.push(piece);
    from = end;
    MARK.lastIndex = end;
  }
  put(text.length);
  return out;
}

type Piece = readonly [end: number, piece: ComponentChildren];

function pieceAt(text: string, at: number, depth: number): Piece {
  const none: Piece = [at, undefined];
  const saved = MARK.lastIndex;
  const inner = (from: number, to: number): ComponentChildren[] => {
    const pieces = inline(text.slice(from, to), depth + 1);
    MARK.lastIndex = saved;
    return pieces;
  };
  switch (text[at] ?? '') {
    case '\\':
      return /[!-/:-@[-`{-~]/.test(text[at + 1] ?? '') ? [at + 2, text[at + 1]] : none;
    case '`': {
      let run = 1;
      while (text[at + run] === '`') run++;
      const end = text.indexOf('`'.repeat(run), at + run);
      return end < 0 ? none : [end + run, <code>{text.slice(at + run, end)}</code>];
    }
    case '*':
    case '_':
    case '~': {
      const mark = text[at]!;
      const isDouble = text[at + 1] === mark;
      if (mark === '~' && !isDouble) return none;
      const sign = isDouble ? mark + mark : mark;
      const start = at + sign.length;
      if (/\s/.test(text[start] ?? ' ') || (mark === '_' && /\w/.test(text[at - 1] ?? ''))) return none;
      const end = text.indexOf(sign, start);
      if (end <= start || end - start > 2_000) return none;
      const body = inner(start, end);
      return [
        end + sign.length,
        mark === '~' ? <del>{body}</del> : isDouble ? <strong>{body}</strong> : <em>{body}</em>,
      ];
    }
    case '!':
      return text[at + 1] === '[' ? linkAt(text, at + 1, (from, to) => <Image name={text.slice(from, to)} />) : none;
    case '[':
      return linkAt(text, at, (from, to, href) => <Link href={href}>{inner(from, to)}</Link>);
    case '<': {
      const end = text.indexOf('>', at);
      const href = end < 0 || end - at > 2_000 ? '' : text.slice(at + 1, end);
      return /^https?:\/\/\S+$/i.test(href) ? [end + 1, <Link href={href}>{href}</Link>] : none;
    }
    default: {
      const href = /^https?:\/\/[^\s<>()[\]"'`]{1,2000}/i.exec(text.slice(at, at + 2_010))?.[0];
      return href === undefined || /\w/.test(text[at - 1] ?? '')
        ? none
        : [at + href.length, <Link href={href}>{href}</Link>];
    }
  }
}

/** `[text](target "title")` from its bracket on. */
function linkAt(text: string, at: number, make: (from: number, to: number, href: string) => ComponentChildren): Piece {
  let open = 0;
  let close = -1;
  for (let i = at; i < Math.min(text.length, at + 2_000); i++) {
    if (text[i] === '\\') i++;
    else if (text[i] === '[') open++;
    else if (text[i] === ']' && --open === 0) {
      close = i;
      break;
    }
  }
  if (close < 0 || text[close + 1] !== '(') return [at - (text[at - 1] === '!' ? 1 : 0), undefined];
  const end = text.indexOf(')', close);
  if (end < 0 || end - close > 4_000) return [at - (text[at - 1] === '!' ? 1 : 0), undefined];
  const href = text
    .slice(close + 2, end)
    .trim()
    .split(/\s/, 1)[0]!
    .replace(/^<|>$/g, '');
  return [end + 1, make(at + 1, close, href)];
}

/** A link to another page; anything but http and https is only its text. */
export function Link({ href, children }: { href: string; children: ComponentChildren }): JSX.Element {
  if (!/^https?:\/\//i.test(href)) return <span class="dead-link">{children}</span>;
  return (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow" referrerpolicy="no-referrer">
      {children}
    </a>
  );
}

/** Images would be loaded from other hosts: their names stand for them. */
function Image({ name }: { name: string }): JSX.Element {
  return <span class="image-name">{name === '' ? 'Image' : name}</span>;
}
