// FileDownload: files of any type and size. Small ones go whole into a key-value store; a `streamHandler`
// would take large ones as they arrive.
// Run: node --import jiti/register examples/file-download.ts https://example.com/report.pdf
import { FileDownload } from 'orcrawl';

const urls = process.argv.length > 2 ? process.argv.slice(2) : [process.env.START_URL ?? 'https://example.com/'];

const crawler = new FileDownload({
  async requestHandler({ request, body, contentType, getKeyValueStore, pushData }) {
    const name = new URL(request.url).pathname.split('/').pop() || 'index';
    const files = await getKeyValueStore('files');
    await files.setValue(name.replace(/[^\w.-]/g, '_'), body, { contentType: contentType.type });
    await pushData({ url: request.url, name, type: contentType.type, bytes: body.length });
  },
});

await crawler.run(urls);

const { items } = await crawler.getData();
for (const { name, bytes } of items) console.log(`${name}: ${bytes} bytes in ./storage/key_value_stores/files`);
