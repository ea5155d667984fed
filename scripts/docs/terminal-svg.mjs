// A terminal's screens as one SVG: they lie below each other and a window moves from one to the next.
// Promise: no script, no font and no picture from elsewhere; light and dark follow the page it stands in.
import { escapeHtml } from './highlight.mjs';

const FONT = 13;
const CHAR = 7.8;
const LINE = 19;
const PAD = 18;
const BAR = 34;
/** The end is shown first, so that nobody meets an empty terminal; then the run is played. */
const HOLD_SECS = 8;
const TYPE_SECS = 1.2;
const PLAY_SECS = 5;

const STYLE = `
:root{color-scheme:light dark;--ground:#f7f9fb;--line:#d9e0e7;--text:#24303d;--quiet:#67768a;--green:#1a7f4b;--yellow:#8a6100;--red:#b3261e;--blue:#0b6a8a}
@media(prefers-color-scheme:dark){:root{--ground:#12171f;--line:#2a3441;--text:#d8dfe8;--quiet:#8f9dae;--green:#6fcf9b;--yellow:#f0c674;--red:#ff8a80;--blue:#6cc7e6}}
text{font:${FONT}px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:var(--text);white-space:pre}
.prompt{fill:var(--green)}.bold,.command{font-weight:600}.dim{fill:var(--quiet)}.red{fill:var(--red)}.green{fill:var(--green)}.yellow{fill:var(--yellow)}.blue,.cyan,.magenta{fill:var(--blue)}`;

/** @param {{ command: string, columns: number, frames: { atMs: number, lines: { text: string, style: string }[][] }[] }} recording */
export function terminalSvg({ command, columns, frames }) {
  const prompt = (typed) => [
    { text: '$ ', style: 'prompt' },
    { text: typed, style: 'command' },
  ];
  const typed = [...command].map((_, at) => ({
    secs: HOLD_SECS + (TYPE_SECS / command.length) * at,
    lines: [prompt(command.slice(0, at + 1))],
  }));
  const lastMs = frames.at(-1).atMs;
  const run = frames.map(({ atMs, lines }) => ({
    secs: HOLD_SECS + TYPE_SECS + 0.3 + (atMs / lastMs) * PLAY_SECS,
    lines: [prompt(command), ...lines],
  }));
  const shown = [...typed.filter((_, at) => at % 2 === 0), ...run];
  const total = TYPE_SECS + 0.3 + PLAY_SECS + HOLD_SECS;
  const tallest = Math.max(...shown.map(({ lines }) => lines.length));
  const width = Math.ceil(columns * CHAR + 2 * PAD);
  const inside = tallest * LINE + PAD;
  const offset = (at) => -at * inside;

  const steps = shown.map(
    ({ secs }, at) => `${((secs / total) * 100).toFixed(2)}%{transform:translateY(${offset(at)}px)}`,
  );
  const motion = `@media(prefers-reduced-motion:no-preference){.film{animation:play ${total.toFixed(1)}s step-end infinite}}@keyframes play{0%{transform:translateY(${offset(shown.length - 1)}px)}${steps.join('')}100%{transform:translateY(${offset(shown.length - 1)}px)}}`;
  const film = shown.map(
    ({ lines }, at) => `<g transform="translate(0 ${at * inside})">${lines.map(lineSvg).join('')}</g>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${inside + BAR}" viewBox="0 0 ${width} ${inside + BAR}" role="img" aria-label="${escapeHtml(`A terminal that runs ${command}: live progress, then a summary`)}">
<style>${STYLE}
.film{transform:translateY(${offset(shown.length - 1)}px)}${motion}</style>
<rect x=".5" y=".5" width="${width - 1}" height="${inside + BAR - 1}" rx="9" style="fill:var(--ground);stroke:var(--line)"/>
<g style="fill:var(--line)"><circle cx="20" cy="18" r="5.5"/><circle cx="38" cy="18" r="5.5"/><circle cx="56" cy="18" r="5.5"/></g>
<svg y="${BAR}" width="${width}" height="${inside}"><g class="film">
${film.join('\n')}
</g></svg>
</svg>
`;
}

function lineSvg(runs, at) {
  let column = 0;
  const parts = runs.map(({ text, style }) => {
    const length = [...text].length;
    const x = PAD + column * CHAR;
    column += length;
    if (text.trim() === '') return '';
    // The length is given, so that columns align in any font.
    const fit = `textLength="${(length * CHAR).toFixed(1)}" lengthAdjust="spacingAndGlyphs"`;
    return `<text x="${x.toFixed(1)}" y="${at * LINE + FONT}" ${fit}${style ? ` class="${style}"` : ''}>${escapeHtml(text)}</text>`;
  });
  return parts.join('');
}
