// Pages that are hostile to browsers: what hurts runs in the page. Elsewhere they are a few bytes of markup.
const page = (script, body = '') => `<!doctype html><title>hostile</title><p>hostile${body}<script>${script}</script>`;

export const BROWSERS = {
  'script-endless': page('for (;;);'),
  'script-endless-later': page('setTimeout(() => { for (;;); }, 20)'),
  'script-endless-promises': page('const again = () => Promise.resolve().then(again); again();'),
  'alert-loop': page('for (;;) alert(1);'),
  'dialogs-at-leaving': page('onbeforeunload = () => "stay"; confirm(1); prompt(2);'),
  'memory-hog': page('const all = []; for (;;) all.push(new Array(1e6).fill(all.length));'),
  'memory-hog-buffers': page(
    'const all = []; setInterval(() => { const b = new Uint8Array(5e7); b.fill(1); all.push(b); }, 1);',
  ),
  'giant-dom': page('document.body.innerHTML = "<p>text</p>".repeat(1_000_000);'),
  'giant-dom-text': page('document.body.textContent = "x".repeat(200_000_000);'),
  'deep-dom': page(
    'let at = document.body; for (let n = 0; n < 50_000; n++) at = at.appendChild(document.createElement("div"));',
  ),
  popups: page('for (let n = 0; n < 20; n++) window.open("/good/0?popup=" + n);'),
  'reload-loop': page('setTimeout(() => location.reload(), 5);'),
  'navigate-loop': page('setTimeout(() => location.assign("?" + Math.random()), 5);'),
  'history-flood': page('let n = 0; setInterval(() => history.pushState(null, "", "#" + n++), 0);'),
  'write-endless': page('setInterval(() => document.write("<p>more"), 0);'),
  'fetch-flood': page('for (let n = 0; n < 500; n++) fetch("/good/0?n=" + n);'),
  'frames-recursive': page(
    'const f = document.createElement("iframe"); f.src = location.pathname + "?" + Math.random(); document.body.append(f);',
  ),
  'workers-endless': page('for (let n = 0; n < 8; n++) new Worker(URL.createObjectURL(new Blob(["for(;;);"])));'),
  'console-flood': page('setInterval(() => { for (let n = 0; n < 500; n++) console.log("x".repeat(1000)); }, 0);'),
  'overwritten-builtins': page(
    'JSON.stringify = () => { throw 1 }; Array.prototype.map = 1; document.documentElement.__defineGetter__("outerHTML", () => { for (;;); }); Object.defineProperty(document, "title", { get() { throw 2 } });',
  ),
  'title-surrogates': page('document.title = "\\ud800"; document.body.append("\\udc00\\u0000");'),
  'download-loop': page(
    'setInterval(() => { const a = document.createElement("a"); a.href = "data:application/octet-stream,x"; a.download = "x"; a.click(); }, 50);',
  ),
};
