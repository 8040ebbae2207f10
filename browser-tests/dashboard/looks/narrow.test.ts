import { testLook } from './look.ts';

testLook({ scheme: 'light', width: 360, height: 740 });
