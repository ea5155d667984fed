// Where the watching thread begins.
import { entryFile } from '../entry-file.js';

export const threadFile = () => entryFile(new URL('./thread.js', import.meta.url));
