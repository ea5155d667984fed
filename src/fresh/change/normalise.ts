// The main content of a page as it is compared with an earlier version: without what changes by itself.
// Promise: linear in the text; a line is only left out when it says nothing but a date, a clock or a counter.
import { isFurnitureLine } from './furniture-lines.js';

/** How long ago, in running text. */
const AGO =
  /\b\d{1,3} (?:seconds?|minutes?|mins?|hours?|hrs?|days?|weeks?|months?|years?) ago\b|\b(?:vor|il y a|hace) \d{1,3} (?:sekunden?|minuten?|stunden?|tag(?:en)?|wochen?|monat(?:en)?|jahr(?:en)?|minutes?|heures?|jours?|semaines?|mois|ans?|minutos?|horas?|días?|semanas?|mes(?:es)?|años?)(?![\p{L}\p{N}])/giu;

const INVISIBLE = /[\u00ad\u200b-\u200f\u2060\ufeff]/g;

/**
 * The text to be compared: one space between words, no empty lines, no lines that are only a date or a counter.
 *
 * @example
 * normaliseContent('Orcas  hunt.\n5 minutes ago\n\n12 comments') // 'Orcas hunt.'
 */
export function normaliseContent(text: string): string {
  const lines: string[] = [];
  for (const raw of text.replace(INVISIBLE, '').split('\n')) {
    const line = singleSpaced(raw);
    if (isFurnitureLine(line)) continue;
    const lasting = singleSpaced(line.replace(AGO, ''));
    if (lasting !== '') lines.push(lasting);
  }
  return lines.join('\n');
}

function singleSpaced(line: string): string {
  return line.split(/\s+/).filter(Boolean).join(' ');
}
