/**
 * Module for `--import`: plants the bug that the variable `PLANTED_BUG` names in the sources of this
 * process, while they are loaded.
 */
import { registerHooks } from 'node:module';
import { plantedBugs } from './planted-bugs.ts';
import { sourceUrl, withBug } from './planted-source.ts';

const bug = plantedBugs.find(({ name }) => name === process.env['PLANTED_BUG']);
if (bug === undefined) throw new RangeError('PLANTED_BUG must name a planted bug.');
const planted = sourceUrl(bug);
registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    if (url !== planted || loaded.source === undefined || loaded.source === null) return loaded;
    const text =
      typeof loaded.source === 'string' ? loaded.source : new TextDecoder().decode(loaded.source);
    return { ...loaded, source: withBug(bug, text) };
  },
});
