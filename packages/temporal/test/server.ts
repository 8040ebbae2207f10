/** Address of the Temporal server that `npm run with-temporal` has started. */
export const address: string = process.env['TEMPORAL_ADDRESS'] ?? '127.0.0.1:7233';
