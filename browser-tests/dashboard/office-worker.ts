/** Works on the sessions of an office's store, until its input ends. */
import { once } from 'node:events';
import { sqlite } from 'adjutant/sqlite';
import { office } from './office.ts';

const [file = ''] = process.argv.slice(2);
const { app } = office(sqlite(file));
app.recovery.start();
console.log('ready');
process.stdin.resume();
await once(process.stdin, 'end');
await app.close();
