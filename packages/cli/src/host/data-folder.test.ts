import { expect, test } from 'vitest';
import { dataFolder } from './data-folder.ts';

test.each([
  ['linux', {}, '/home/ann', '/home/ann/.local/share/adjutant'],
  ['linux', { XDG_DATA_HOME: '/data' }, '/home/ann', '/data/adjutant'],
  ['linux', { XDG_DATA_HOME: 'relative' }, '/home/ann', '/home/ann/.local/share/adjutant'],
  ['linux', { XDG_DATA_HOME: '' }, '/home/ann', '/home/ann/.local/share/adjutant'],
  [
    'darwin',
    { XDG_DATA_HOME: '/data' },
    '/Users/ann',
    '/Users/ann/Library/Application Support/adjutant',
  ],
  [
    'win32',
    { LOCALAPPDATA: 'C:\\Users\\ann\\Local' },
    'C:\\Users\\ann',
    'C:\\Users\\ann\\Local\\adjutant',
  ],
  ['win32', {}, 'C:\\Users\\ann', 'C:\\Users\\ann\\AppData\\Local\\adjutant'],
  ['linux', { ADJUTANT_HOME: '/own', XDG_DATA_HOME: '/data' }, '/home/ann', '/own'],
] as const)('on %s with %o the data is in %s', (platform, env, home, folder) => {
  expect(dataFolder(env, platform, home)).toBe(folder);
});
