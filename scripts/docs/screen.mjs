// The screen of a terminal, as far as our programs use one: lines, colours, and a progress line that is redrawn.

/** Select Graphic Rendition: codes to the class names of terminal-svg.mjs. */
const STYLES = {
  1: 'bold',
  2: 'dim',
  31: 'red',
  32: 'green',
  33: 'yellow',
  34: 'blue',
  35: 'magenta',
  36: 'cyan',
  90: 'dim',
};

const TOKEN = /\u001b\[([\d;?]*)([A-Za-z])|\u001b[()][A-Z0-9]|[\s\S]/gu;

export function createScreen(columns) {
  /** Rows of cells `{ text, style }`. */
  let rows = [[]];
  let row = 0;
  let column = 0;
  let style = '';

  const control = {
    A: (count) => (row = Math.max(0, row - count)),
    B: (count) => (row += count),
    C: (count) => (column += count),
    D: (count) => (column = Math.max(0, column - count)),
    G: (count) => (column = count - 1),
    K: () => (rows[row] = rows[row].slice(0, column)),
    J: () => {
      rows = rows.slice(0, row + 1);
      rows[row] = rows[row].slice(0, column);
    },
  };

  function put(text) {
    if (column >= columns) {
      row++;
      column = 0;
    }
    while (rows.length <= row) rows.push([]);
    const cells = rows[row];
    while (cells.length < column) cells.push({ text: ' ', style: '' });
    cells[column++] = { text, style };
  }

  return {
    write(output) {
      for (const [token, numbers, letter] of output.matchAll(TOKEN)) {
        while (rows.length <= row) rows.push([]);
        if (letter === 'm') style = stylesOf(numbers, style);
        else if (letter) control[letter]?.(Number(numbers) || 1);
        else if (token === '\n') row++;
        else if (token === '\r') column = 0;
        else if (token >= ' ' && !token.startsWith('\u001b')) put(token);
        if (token === '\n') column = 0;
      }
    },
    /** The lines as runs of one style, without the empty ones at the end. */
    lines() {
      const lines = rows.map(runsOf);
      while (lines.length > 0 && lines.at(-1).length === 0) lines.pop();
      return lines;
    },
  };
}

function stylesOf(numbers, before) {
  const codes = numbers === '' ? ['0'] : numbers.split(';');
  return codes.reduce((style, code) => (code === '0' ? '' : `${style} ${STYLES[code] ?? ''}`.trim()), before);
}

function runsOf(cells) {
  const runs = [];
  for (const { text, style } of cells) {
    if (runs.at(-1)?.style === style) runs.at(-1).text += text;
    else runs.push({ text, style });
  }
  if (runs.length > 0) runs[runs.length - 1].text = runs.at(-1).text.trimEnd();
  return runs.filter(({ text }) => text !== '');
}
