import 'adjutant/testing/vitest';
import { forbidRealModels } from 'adjutant/testing';

// No test calls a real model by accident. Those of the wire, whose `fetch` or server is a part of
// the test, call `allowRealModels()`.
forbidRealModels({ allow: ['scripted:*'] });
