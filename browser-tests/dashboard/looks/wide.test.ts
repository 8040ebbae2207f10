import { testLook } from './look.ts';

testLook({ schemes: ['light', 'dark'], width: 1280, height: 800 });
