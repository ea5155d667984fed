// Where the reading thread begins.
import { entryFile } from '../base/entry-file.js';

export const threadFile = () => entryFile(new URL('./thread.js', import.meta.url));
