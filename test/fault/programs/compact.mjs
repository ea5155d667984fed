// Compacts a data directory, keeping one capture per page; killed at the point that ORCRAWL_KILL_AT names.
import { source } from '../../support/source.mjs';

const { compactContent } = await source('store/content/compact/compact');
await compactContent([process.argv[2]], { keep: 1 });
