// Bar charts as SVG. Guarantee: text keeps its size at any width, and colours follow the page's theme.
import { escapeHtml } from './highlight.mjs';

const ROW = 46;
const BAR_Y = 20;
const BAR_HEIGHT = 14;

/**
 * Bars of one quantity: label and value above each.
 * @param {{ title: string, note?: string, bars: { label: string, value: number, said: string, isOurs?: boolean }[] }} chart
 */
export function barChart({ title, note, bars }) {
  const most = Math.max(...bars.map(({ value }) => value));
  const rows = bars.map(({ label, value, said, isOurs }, at) => {
    const y = at * ROW;
    const width = Math.max(0.6, (value / most) * 100).toFixed(2);
    return (
      `<text x="0" y="${y + 13}">${escapeHtml(label)}</text>` +
      `<text x="100%" y="${y + 13}" text-anchor="end" class="value">${escapeHtml(said)}</text>` +
      `<rect x="0" y="${y + BAR_Y}" width="100%" height="${BAR_HEIGHT}" rx="3" class="track"/>` +
      `<rect x="0" y="${y + BAR_Y}" width="${width}%" height="${BAR_HEIGHT}" rx="3" class="${isOurs ? 'ours' : 'peer'}"/>`
    );
  });
  const said = bars.map(({ label, said: text }) => `${label}: ${text}`).join('; ');
  const height = bars.length * ROW - (ROW - BAR_Y - BAR_HEIGHT);
  return `<figure class="chart"><figcaption>${escapeHtml(title)}</figcaption><svg width="100%" height="${height}" role="img" aria-label="${escapeHtml(`${title}. ${said}`)}">${rows.join('')}</svg>${note ? `<p>${escapeHtml(note)}</p>` : ''}</figure>\n`;
}
