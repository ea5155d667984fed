// fontoxpath and xpath against ours: a page of 2,000 rows, a plain path, a nested one, and one that is quadratic.
import { extractFields } from '../../dist/index.js';
import { cpuMs, load } from './from.mjs';

const { DOMParser } = await load('@xmldom/xmldom');
const fontoxpath = await load('fontoxpath');
const xpath = await load('xpath');
const row = (i) =>
  `<div class="row r${i % 7}"><h2><a href="/p/${i}">Item ${i}</a></h2><span>${i}.00</span><ul><li>a</li><li>b</li></ul></div>`;
const html = `<html><body><main>${Array.from({ length: 2_000 }, (_, i) => row(i)).join('')}</main></body></html>`;
const PATHS = ['//div[@class="row r3"]/h2/a', '//*[.//*[.//*[.//li]]]', '//div[count(preceding-sibling::div) > 5]//li'];
const document = new DOMParser().parseFromString(html, 'text/xml');
for (const path of PATHS) {
  for (let round = 0; round < 2; round++) {
    const fields = { found: { selector: path, many: true } };
    const [ours] = await cpuMs(() => extractFields(html, { engine: 'xpath', fields }));
    const [fonto] = await cpuMs(() => fontoxpath.evaluateXPathToNodes(path, document).length);
    const [other] = await cpuMs(() => xpath.select(path, document).length);
    console.log(
      `${path}: ours with reading ${ours.toFixed(0)}, fontoxpath ${fonto.toFixed(0)}, xpath ${other.toFixed(0)} CPU-ms`,
    );
  }
}
