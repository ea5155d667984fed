// A process that the S3 test kills: moves what is sealed in its data directories to an object store.
// Arguments: the address of the store, data directories.
import { source } from '../support/source.mjs';

const { openObjects } = await source('store/content/remote/objects');
const { createShipping } = await source('store/content/remote/shipping');

const [url, ...dataDirs] = process.argv.slice(2);
const objects = await openObjects(url);
const shipping = createShipping(dataDirs, objects);
await shipping.begin();
await shipping.ship();
objects.close();
