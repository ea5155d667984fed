// Where a worker process begins.
import { entryFile } from '../../base/entry-file.js';

export const childEntry = () => entryFile(new URL('../worker/child.js', import.meta.url));
