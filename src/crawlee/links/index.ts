// Crawlee's functions on links.
export * from './patterns.js';
export * from './urls.js';
export * from './enqueue.js';
