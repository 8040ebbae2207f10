export { store } from '../../stores/sqlite.ts';
