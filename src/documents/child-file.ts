// Where a process that reads documents begins.
import { entryFile } from '../base/entry-file.js';

export const childFile = () => entryFile(new URL('./child.js', import.meta.url));
