// What the pages do in a browser: search, theme, menu, copy buttons, the place in the contents.
// Without it every page still reads. Nothing is sent anywhere.
(() => {
  const base = document.documentElement.dataset.base;
  const find = (selector) => document.querySelector(selector);

  // Theme: the system's, until the reader chooses.
  find('button.theme').addEventListener('click', () => {
    const root = document.documentElement;
    const isDark = root.dataset.theme
      ? root.dataset.theme === 'dark'
      : matchMedia('(prefers-color-scheme: dark)').matches;
    root.dataset.theme = isDark ? 'light' : 'dark';
    localStorage.setItem('theme', root.dataset.theme);
  });

  const menu = find('button.menu');
  menu.addEventListener('click', () => {
    const isOpen = document.body.classList.toggle('menu-open');
    menu.setAttribute('aria-expanded', String(isOpen));
  });
  find('nav [aria-current]')?.scrollIntoView({ block: 'nearest' });

  for (const block of document.querySelectorAll('.code')) {
    const button = Object.assign(document.createElement('button'), { className: 'copy', textContent: 'Copy' });
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(block.querySelector('code').textContent);
      button.textContent = 'Copied';
      setTimeout(() => (button.textContent = 'Copy'), 1500);
    });
    block.append(button);
  }

  const entries = [...document.querySelectorAll('aside a')];
  if (entries.length > 0) {
    const sections = entries.map((entry) => document.getElementById(decodeURIComponent(entry.hash.slice(1))));
    const mark = () => {
      const at = sections.findLastIndex((section) => section.getBoundingClientRect().top < 120);
      entries.forEach((entry, index) => entry.classList.toggle('now', index === Math.max(at, 0)));
    };
    addEventListener('scroll', mark, { passive: true });
    mark();
  }

  // Search: the index loads when it is first wanted.
  const dialog = find('dialog');
  const [input, list, none] = ['input', 'ol', '.none'].map((selector) => dialog.querySelector(selector));
  const MOST = 12;
  let index;

  const load = (file) =>
    new Promise((resolve, reject) => {
      const script = Object.assign(document.createElement('script'), {
        src: `${base}assets/${file}`,
        onload: resolve,
        onerror: reject,
      });
      document.head.append(script);
    });

  async function open() {
    if (!dialog.open) dialog.showModal();
    input.select();
    if (index) return;
    await Promise.all([load('minisearch.js'), load('search-index.js')]);
    const { options, index: text } = window.orcrawlSearch;
    index = window.MiniSearch.loadJSON(text, options);
    show();
  }

  function show() {
    const words = input.value.trim();
    const settings = {
      tokenize: (text) => text.split(/[^\p{L}\p{N}_]+/u).filter((word) => word !== ''),
      prefix: true,
      fuzzy: (term) => (term.length > 4 ? 0.2 : false),
      boost: { title: 4, heading: 3 },
      combineWith: 'AND',
      boostDocument: (_id, _term, { weight }) => weight,
    };
    const results = index && words !== '' ? index.search(words, settings).slice(0, MOST) : [];
    list.replaceChildren(...results.map(resultItem));
    none.hidden = words === '' || results.length > 0;
  }

  function resultItem({ title, heading, url, excerpt }, at) {
    const link = Object.assign(document.createElement('a'), { href: base + url, className: at === 0 ? 'chosen' : '' });
    link.append(heading ? `${title} › ${heading}` : title);
    link.append(Object.assign(document.createElement('small'), { textContent: excerpt }));
    link.addEventListener('click', () => dialog.close());
    const item = document.createElement('li');
    item.append(link);
    return item;
  }

  function choose(step) {
    const links = [...list.querySelectorAll('a')];
    const at = links.findIndex((link) => link.classList.contains('chosen'));
    const next = Math.min(Math.max(at + step, 0), links.length - 1);
    links.forEach((link, place) => link.classList.toggle('chosen', place === next));
    links[next]?.scrollIntoView({ block: 'nearest' });
  }

  find('button.search').addEventListener('click', open);
  input.addEventListener('input', show);
  input.addEventListener('keydown', (event) => {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      choose(event.key === 'ArrowDown' ? 1 : -1);
      event.preventDefault();
    } else if (event.key === 'Escape') {
      // A search field would only empty itself.
      dialog.close();
      event.preventDefault();
    } else if (event.key === 'Enter') {
      list.querySelector('a.chosen')?.click();
      event.preventDefault();
    }
  });
  dialog.addEventListener('click', (event) => {
    if (event.target === dialog) dialog.close();
  });
  addEventListener('keydown', (event) => {
    const isTyping = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
    if ((event.key === '/' && !isTyping) || (event.key === 'k' && (event.ctrlKey || event.metaKey))) {
      event.preventDefault();
      void open();
    }
  });
})();
