/** Works on the sessions of an office's store, until its input ends. */
import { once } from 'node:events';
import { office } from './office.ts';
import { storeAt } from './stores.ts';

const [place = ''] = process.argv.slice(2);
const { app } = office(storeAt(place));
app.recovery.start();
console.log('ready');
process.stdin.resume();
await once(process.stdin, 'end');
await app.close();
