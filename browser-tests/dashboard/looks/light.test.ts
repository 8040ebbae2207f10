import { testLook } from './look.ts';

testLook({ scheme: 'light', width: 1280, height: 800 });
