import { testLook } from './look.ts';

testLook({ schemes: ['light'], width: 360, height: 740 });
