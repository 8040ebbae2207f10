import { storeContract } from '../../src/testing/contracts/store/store-contract.ts';
import { inNewFiles } from '../stores/sqlite/new-files.ts';

await storeContract('sqlite', inNewFiles({}));
