/** Serves an office's store with the dashboard at a port, until it is killed. */
import { join } from 'node:path';
import { serve } from '@adjutant/server';
import { office } from './office.ts';
import { storeAt } from './stores.ts';

const [place = '', port = '0'] = process.argv.slice(2);
const folder = join(import.meta.dirname, '../../packages/dashboard/dist');
const { app } = office(storeAt(place));
const { url } = await serve(app, { port: Number(port), dashboard: { folder } });
console.log(url);
