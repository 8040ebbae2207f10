import { testLook } from './look.ts';

testLook({ scheme: 'dark', width: 1280, height: 800 });
