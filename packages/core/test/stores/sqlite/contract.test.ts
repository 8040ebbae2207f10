import { storeContract } from '../../../src/testing/contracts/store/store-contract.ts';
import { inNewFiles } from './new-files.ts';

await storeContract('sqlite', inNewFiles({}));
