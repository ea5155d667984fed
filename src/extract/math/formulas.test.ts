// Formulas come once, as LaTeX, however a page shows them; sub- and superscripts keep their meaning.
import { describe, expect, it } from 'vitest';
import { extractContent, toMarkdown } from '../../crawl/page/extraction.js';

const lead = `<h1>Waves</h1><p>${'The waves of the sea are long and short, and both of them count. '.repeat(6)}</p>`;
const tail = '<p>After it the text goes on for a while, as texts do, and says what follows from it.</p>';

/** The text and the markdown of a paragraph, without what stands around it. */
function both(paragraph: string, options: { math?: 'dollar' | 'code' | 'text' } = {}): [string, string] {
  const { text, markdown } = extractContent(`${lead}${paragraph}${tail}`, options);
  const cut = (form: string): string => form.slice(form.indexOf('both of them count. ')).replace(/^[^\n]*\n+/, '');
  return [cut(text).split('\nAfter it')[0]!.trim(), cut(markdown).split('\n\nAfter it')[0]!.trim()];
}

const mathml = (inside: string): string => `<math xmlns="http://www.w3.org/1998/Math/MathML">${inside}</math>`;
const annotated = (tex: string, inside = '<mi>x</mi>', attributes = ''): string =>
  `<math ${attributes}><semantics><mrow>${inside}</mrow><annotation encoding="application/x-tex">${tex}</annotation></semantics></math>`;

describe('formulas', () => {
  it.each([
    ['MathML with its TeX', annotated('E = mc^2', '<mi>E</mi><mo>=</mo><mi>m</mi><msup><mi>c</mi><mn>2</mn></msup>')],
    ['alttext', '<math alttext="E = mc^2"><mi>E</mi></math>'],
    [
      'KaTeX',
      `<span class="katex"><span class="katex-mathml">${annotated('E = mc^2')}</span><span class="katex-html" aria-hidden="true"><span class="base">E=mc2</span></span></span>`,
    ],
    [
      'MathJax 2',
      `<span class="MathJax_Preview">[E=mc2]</span><span class="MathJax" id="MathJax-Element-1-Frame"><nobr><span class="math">E=mc2</span></nobr></span><script type="math/tex" id="MathJax-Element-1">E = mc^2</script>`,
    ],
    [
      'MathJax 2 with assistive MathML',
      `<span class="MathJax_Preview"></span><span class="MathJax"><nobr aria-hidden="true">E=mc2</nobr><span class="MJX_Assistive_MathML">${mathml('<mi>E</mi><mo>=</mo><mi>m</mi><msup><mi>c</mi><mn>2</mn></msup>')}</span></span><script type="math/tex">E = mc^2</script>`,
    ],
    [
      'Wikipedia',
      `<span class="mwe-math-element"><span class="mwe-math-mathml-inline mwe-math-mathml-a11y" style="display: none;">${annotated('{\\displaystyle E = mc^2}', '<mi>E</mi>', 'alttext="{\\displaystyle E = mc^2}"')}</span><img src="https://wikimedia.org/x.svg" class="mwe-math-fallback-image-inline" aria-hidden="true" alt="{\\displaystyle E = mc^2}"></span>`,
    ],
    ['an image with its TeX', '<img class="latex" src="/latex.php?x" alt="E = mc^2">'],
    ['a script', '<script type="math/tex">E = mc^2</script>'],
  ])('%s comes once, in text and markdown', (_, html) => {
    for (const form of both(`<p>So ${html} holds.</p>`)) expect(form).toBe('So $E = mc^2$ holds.');
  });

  it('MathJax 3 without TeX comes as LaTeX', () => {
    const html = `<mjx-container class="MathJax" jax="CHTML"><mjx-math aria-hidden="true"><mjx-mi><mjx-c></mjx-c></mjx-mi>E</mjx-math><mjx-assistive-mml display="inline">${mathml('<mi>E</mi><mo>=</mo><mi>m</mi><msup><mi>c</mi><mn>2</mn></msup>')}</mjx-assistive-mml></mjx-container>`;
    for (const form of both(`<p>So ${html} holds.</p>`)) expect(form).toBe('So $E=mc^2$ holds.');
  });

  it('of their own lines come as blocks', () => {
    const display = `<span class="katex-display"><span class="katex">${annotated('a+b', '<mi>a</mi>', 'display="block"')}</span></span>`;
    expect(both(`<p>First</p><p>${display}</p>`)).toEqual(['First\n$$a+b$$', 'First\n\n$$a+b$$']);
    expect(both(`<p>First</p><script type="math/tex; mode=display">a+b</script>`)).toEqual([
      'First\n$$a+b$$',
      'First\n\n$$a+b$$',
    ]);
  });

  it.each([
    ['<mfrac><mrow><mi>a</mi><mo>+</mo><mn>1</mn></mrow><mi>b</mi></mfrac>', '\\frac{a+1}{b}', '(a+1)/b'],
    ['<msqrt><mi>x</mi></msqrt><mo>+</mo><mroot><mi>y</mi><mn>3</mn></mroot>', '\\sqrt{x}+\\sqrt[3]{y}', '√x+3√y'],
    ['<msubsup><mi>x</mi><mi>i</mi><mrow><mi>n</mi><mo>+</mo><mn>1</mn></mrow></msubsup>', 'x_i^{n+1}', 'x_i^(n+1)'],
    [
      '<munderover><mo>∑</mo><mrow><mi>i</mi><mo>=</mo><mn>1</mn></mrow><mi>n</mi></munderover><mi>i</mi>',
      '\\sum_{i=1}^n i',
      '∑_(i=1)^n i',
    ],
    [
      '<mo>(</mo><mtable><mtr><mtd><mn>1</mn></mtd><mtd><mn>2</mn></mtd></mtr><mtr><mtd><mn>3</mn></mtd><mtd><mn>4</mn></mtd></mtr></mtable><mo>)</mo>',
      '(\\begin{matrix}1 & 2 \\\\ 3 & 4\\end{matrix})',
      '([1, 2; 3, 4])',
    ],
    ['<mi>α</mi><mo>≤</mo><mi>sin</mi><mo>⁡</mo><mi>x</mi>', '\\alpha\\le\\sin x', 'α≤sinx'],
    ['<mover><mi>v</mi><mo>→</mo></mover>', '\\vec{v}', 'v'],
    ['<mfenced><mi>a</mi><mi>b</mi></mfenced>', '\\left(a,b\\right)', '(a,b)'],
    ['<munder><mi>lim</mi><mrow><mi>n</mi><mo>→</mo><mo>∞</mo></mrow></munder>', '\\lim_{n\\to\\infty}', 'lim_(n→∞)'],
  ])('MathML %s is %s', (html, tex, plain) => {
    const page = `<p>So ${mathml(html)} holds.</p>`;
    for (const form of both(page)) expect(form).toBe(`So $${tex}$ holds.`);
    expect(both(page, { math: 'text' })[0]).toBe(`So ${plain} holds.`);
    expect(both(page, { math: 'code' })[1]).toBe(`So $\`${tex}\`$ holds.`);
  });

  it('leave no image behind and no other image out', () => {
    const wiki = `<span class="mwe-math-element"><span style="display:none">${annotated('x')}</span><img class="mwe-math-fallback-image-inline" src="/f.svg" alt="x"></span>`;
    const { markdown, images } = extractContent(
      `${lead}<p>Let ${wiki} be <img src="/wave.png" alt="a wave"> real.</p>${tail}`,
      {
        url: 'https://a.example/',
      },
    );
    expect(markdown).not.toContain('f.svg');
    expect(images).toMatchObject([{ url: 'https://a.example/wave.png', alt: 'a wave' }]);
  });

  it('keep their paragraph, however many there are', () => {
    const f = (tex: string): string =>
      `<span class="mwe-math-element"><span style="display:none">${annotated(tex)}</span><img class="mwe-math-fallback-image-inline" src="/f.svg" alt="${tex}"></span>`;
    const [text] = both(`<p>${f('a')} and ${f('b')} give ${f('c')}.</p><p>${f('\\int_0^1 f')}</p>`);
    expect(text).toBe('$a$ and $b$ give $c$.\n$\\int_0^1 f$');
  });

  it('are written the same in the markdown of the whole page', () => {
    expect(toMarkdown(`<p>So ${annotated('x^2')} it is, for $5.</p>`).raw).toBe('So $x^2$ it is, for \\$5.');
    expect(toMarkdown('<p>It costs $5 or $6.</p>').raw).toBe('It costs $5 or $6.');
  });
});

describe('sub- and superscripts', () => {
  it.each([
    ['10<sup>23</sup> atoms', '10^23 atoms'],
    ['10<sup>-6</sup> m', '10^-6 m'],
    ['H<sub>2</sub>O', 'H_2O'],
    ['x<sup>n+1</sup> + y', 'x^{n+1} + y'],
    ['a<sub>ij</sub>', 'a_{ij}'],
    ['the 1<sup>st</sup> and 2<sup>nd</sup>', 'the 1st and 2nd'],
    ['Brand<sup>®</sup> and Name<sup>TM</sup>', 'Brand® and NameTM'],
    ['le XIX<sup>e</sup> siècle', 'le XIX^e siècle'],
  ])('%s is %s', (html, wanted) => {
    for (const form of both(`<p>There is ${html}, they say.</p>`)) expect(form).toBe(`There is ${wanted}, they say.`);
  });

  it('that lead to a note are the note’s number in brackets', () => {
    const [text, markdown] = both(
      '<p>So it is<sup><a href="#fn1">1</a></sup>, and<sup><a href="#cite">[2]</a></sup> so on.</p>',
    );
    expect(text).toBe('So it is[1], and[2] so on.');
    expect(markdown).toContain('So it is\\[[1](#fn1)\\], and[\\[2\\]](#cite) so on.');
  });
});
