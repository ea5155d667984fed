// Colours code blocks while the site is built: the reader's browser gets spans and two colours per class.
import {
  bundledLanguages,
  bundledThemes,
  codeToTokensWithThemes,
  createOnigurumaEngine,
  createShikiInternal,
  loadBuiltinWasm,
} from '@gerrit0/mini-shiki';

const LANGUAGES = ['ts', 'js', 'json', 'jsonc', 'sh', 'yaml', 'diff', 'python', 'html', 'lua'];
const ALIASES = { typescript: 'ts', javascript: 'js', mjs: 'js', bash: 'sh', shell: 'sh', yml: 'yaml', py: 'python' };
const THEMES = { light: 'github-light', dark: 'github-dark' };

export async function createHighlighter() {
  await loadBuiltinWasm();
  const internal = await createShikiInternal({
    engine: await createOnigurumaEngine(),
    langs: await Promise.all(LANGUAGES.map((name) => bundledLanguages[name]())),
    themes: await Promise.all(Object.values(THEMES).map((name) => bundledThemes[name]())),
  });
  /** `light dark` colours → class name */
  const classes = new Map();

  function classOf({ variants: { light, dark } }) {
    const pair = `${light.color} ${dark.color}`;
    if (!classes.has(pair)) classes.set(pair, `k${classes.size}`);
    return classes.get(pair);
  }

  return {
    /** Lines of HTML; text in a language that is not known stays plain. */
    html(code, language) {
      const lang = ALIASES[language] ?? language;
      if (!LANGUAGES.includes(lang)) return escapeHtml(code);
      return codeToTokensWithThemes(internal, code, { lang, themes: THEMES })
        .map((line) =>
          line
            .map((token) =>
              token.content.trim() === ''
                ? token.content
                : `<span class="${classOf(token)}">${escapeHtml(token.content)}</span>`,
            )
            .join(''),
        )
        .join('\n');
    },
    /** The rules for every class that was used. */
    css() {
      return [...classes]
        .map(([pair, name]) => {
          const [light, dark] = pair.split(' ');
          return `.${name}{color:light-dark(${light},${dark})}`;
        })
        .join('\n');
    },
  };
}

export function escapeHtml(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
