// The least a client can do: as many loops as permits, each asking for the next page when it has read the last.
// Beside it stands what a batch makes of the same permits on the same machine at the same time.
import { Pool } from 'undici';

const [port, count, permits] = process.argv.slice(2).map(Number);
const pool = new Pool(`http://127.0.0.1:${port}`, { connections: permits });
let next = 0;
let succeeded = 0;
async function loop() {
  while (next < count) {
    const { statusCode, body } = await pool.request({ path: `/page/${next++}`, method: 'GET' });
    await body.text();
    if (statusCode === 200) succeeded++;
  }
}
await Promise.all(Array.from({ length: permits }, loop));
await pool.close();
console.log(JSON.stringify({ succeeded }));
